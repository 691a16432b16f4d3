extension MonicaExamples {
    package static let gift =
        #"\#(gift("\"12.50\"", "12.5", "$12.50")) | \#(gift("null", "null", ""))"#

    private static func gift(_ amount: String, _ value: String, _ text: String) -> String {
        """
        {
          "id": #1,
          + "uuid": "6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f607a",
          + "object": = "gift",
          + "contact_id": #1,
          + "name": "Teapot",
          + "comment": null | "For tea",
          + "url": null | "https://example.com",
          + "amount": \(amount),
          + "value": \(value),
          + "amount_with_currency": "\(text)",
          + "status": "idea" | "offered" | "received",
          + "is_an_idea": true,
          + "has_been_offered": false,
          + "date": null | "2024-10-20",
          + "recipient": null | \(shortContact),
          + "photos": [] | [\(photo)],
          + "contact": \(shortContact),
          + "account": \(owner),
          + \(times)
        }
        """
    }

    static let gifts = resource(
        "gifts", "a gift", gift, lists: "",
        requests: (
            new: """
            { "contact_id": 5, "name": "x", "status": "offered", "comment": "c", "url": "https://example.com",
              "amount": "12.50", "date": "2024-10-20", "recipient_id": 6 }
            """,
            changed: """
            { "contact_id": 5, "name": "x", "status": "idea", "comment": null | "c",
              "url": null | "https://example.com", "amount": null | "12.50", "date": null | "2024-10-20",
              "recipient_id": null | 6 }
            """
        ), required: "The name field is required.")
}
