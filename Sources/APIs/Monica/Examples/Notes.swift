extension MonicaExamples {
    package static let note = """
        {
          "id": #1,
          + "uuid": "6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f6078",
          + "object": = "note",
          + "contact_id": #1,
          + "body": "Likes tea",
          + "is_favorited": false,
          + "favorited_at": null | "2024-10-26T14:22:00Z",
          + "url": "https://monica.example/api/notes/1",
          + "account": \(owner),
          + "contact": \(shortContact),
          + \(times)
        }
        """

    static let notes = resource(
        "notes", "a note", note, lists: "?contact_id=5&page=1&limit=10",
        requests: (
            new: #"""
            { "contact_id": 5, "body": "Likes tea", "is_favorited": false }
            > { "contact_id": 5, "body": "\r\n\t\u001fé🎉", "is_favorited": false }
            """#,
            changed: #"{ "contact_id": 5, "body": "x", "is_favorited": true }"#
        ), required: "The body field is required.")
}
