extension MonicaExamples {
    package static let journalEntry = """
        {
          "id": #1,
          "uuid": "6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f607c",
          "object": = "entry",
          "date": "2024-10-20T00:00:00Z",
          "title": "A good day",
          "post": "We met in the park",
          "url": "https://monica.example/api/journal/1",
          "account": \(owner),
          "created_at": "2024-01-15T10:30:00Z",
          "updated_at": "2024-10-26T14:22:00Z"
        }
        """

    static let journal = """
        GET /journal limited addition: Returns a page of the journal, the oldest entries first.
        > /journal?page=2&limit=50&sort=-updated_at
        < 200 \(page(journalEntry, "/journal", limit: 10))

        GET /journal/{id} limited addition: Returns an entry of the journal.
        > /journal/1
        < 200 \(one(journalEntry))
        ! 404 \(missing("journal entry"))

        POST /journal key limited addition: Creates an entry of the journal.
        > { "title": "A good day", "post": "We met in the park" }
        > { "title": "A good day", "post": "We met in the park", "date": "2024-10-20" }
        < 201 \(one(journalEntry))
        ! 422 The post field is required.

        PUT|PATCH /journal/{id} limited addition: Replaces every field of an entry of the journal.
        > /journal/1 { "title": "A good day", "post": "We met in the park", "date": "2024-10-20" }
        < 200 \(one(journalEntry))
        ! 404 \(missing("journal entry"))
        ! 422 The post field is required.

        DELETE /journal/{id} limited addition: Deletes an entry of the journal.
        > /journal/1
        < 200 { "deleted": = true, "id": #1 }
        ! 404 \(missing("journal entry"))
        """
}
