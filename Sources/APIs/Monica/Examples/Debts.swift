extension MonicaExamples {
    package static let debt = """
        {
          "id": #1,
          "uuid": "6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f607d",
          "object": = "debt",
          "in_debt": "yes" | "no",
          "status": "inprogress" | "completed",
          "amount": "12.50",
          "value": "12.50",
          "amount_with_currency": "$12.50",
          "reason": "Lunch" | null,
          "account": \(owner),
          "contact": \(shortContact),
          "created_at": "2024-01-15T10:30:00Z",
          "updated_at": "2024-10-26T14:22:00Z"
        }
        """

    static let debts = resource(
        "debts", "a debt", debt, lists: "?contact_id=5&page=1&limit=10&sort=-updated_at",
        requests: (
            new: """
            { "contact_id": 5, "in_debt": "yes", "status": "inprogress", "amount": "12.50", "reason": "Lunch" }
            """,
            changed: """
            { "contact_id": 5, "in_debt": "no", "status": "completed", "amount": "7", "reason": null | "Lunch" }
            """
        ), required: "The amount field is required.", names: ("debt", "debts"))
}
