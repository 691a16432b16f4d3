extension MonicaExamples {
    package static let tag = """
        {
          "id": #1,
          + "object": = "tag",
          + "name": "Family",
          + "name_slug": "family",
          + "account": \(owner),
          + "created_at": "2024-01-15T10:30:00Z",
          + "updated_at": "2024-01-15T10:30:00Z"
        }
        """

    static let tags = """
        GET /tags
        > /tags?sort=-name&page=2
        > /tags
        < 200 {
          "data": [\(tag)],
          + "meta": {
            "total": 1,
            "current_page": #1,
            "per_page": #1,
            + "last_page": #1,
            + "from": #1 | null,
            + "to": #1 | null
          },
          + "links": \(links("/tags"))
        }

        GET /tags/{id}
        > /tags/1
        < 200 \(one(tag))

        GET /tags/{id}/contacts
        > /tags/1/contacts?page=2&limit=9&sort=-updated_at
        < 200 \(page(contact, "/tags/1/contacts", limit: 50))

        POST /tags key
        > { "name": "Family" }
        < 201 \(one(tag))

        PUT|PATCH /tags/{id}
        > /tags/1 { "name": "Family" }
        < 200 \(one(tag))

        DELETE /tags/{id}
        > /tags/1
        < 200 { "deleted": = true, "id": #1 }
        """
}
