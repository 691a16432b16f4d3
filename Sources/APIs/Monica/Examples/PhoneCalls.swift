extension MonicaExamples {
    package static let call = """
        {
          "id": #1,
          "uuid": "6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f607a",
          "object": = "call",
          "called_at": "2024-10-20T18:30:00Z",
          "content": "About the party" | null,
          "contact_called": false,
          "emotions": [],
          "url": "https://monica.example/api/calls/1",
          "account": \(owner),
          "contact": \(shortContact),
          "created_at": "2024-01-15T10:30:00Z",
          "updated_at": "2024-10-26T14:22:00Z"
        }
        """

    static let phoneCalls = resource(
        "calls", "a call", call, lists: "?contact_id=5&page=1&limit=10&sort=-called_at",
        requests: (
            new: """
            { "contact_id": 5, "called_at": "2024-10-20T18:30:00Z", "content": "About the party",
              "contact_called": true }
            """,
            changed: """
            { "contact_id": 5, "called_at": "2024-10-20T18:30:00Z", "content": null | "About the party",
              "contact_called": false }
            """
        ), required: "The called at field is required.", names: ("call", "calls"))
}
