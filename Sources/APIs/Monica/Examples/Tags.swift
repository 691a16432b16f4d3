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
        GET /tags limited +page +limit +sort: Returns all tags, by default by name.
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

        GET /tags/{id} limited addition: Returns a tag.
        > /tags/1
        < 200 \(one(tag))
        ! 404 The requested tag was not found.

        GET /tags/{id}/contacts limited addition: Returns a page of the contacts with a tag; partial contacts are left out.
        > /tags/1/contacts?page=2&limit=9&sort=-updated_at
        < 200 \(page(contact, "/tags/1/contacts", limit: 50))
        ! 404 The requested tag was not found.

        POST /tags key limited addition: Creates a tag.
        > { "name": "Family" }
        < 201 \(one(tag))
        ! 422 The name has already been taken.

        PUT|PATCH /tags/{id} limited addition: Changes a tag.
        > /tags/1 { "name": "Family" }
        < 200 \(one(tag))
        ! 404 The requested tag was not found.
        ! 422 The name has already been taken.

        DELETE /tags/{id} limited addition: Deletes a tag.
        > /tags/1
        < 200 { "deleted": = true, "id": #1 }
        ! 404 The requested tag was not found.
        """
}
