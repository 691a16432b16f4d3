extension MonicaExamples {
    package static let task = "\(task("#1", shortContact)) | \(task("null", "null"))"

    private static func task(_ contactID: String, _ contact: String) -> String {
        """
        {
          "id": #1,
          + "uuid": "6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f6079",
          + "object": = "task",
          + "contact_id": \(contactID),
          + "title": "Send a card",
          + "description": null | "To John",
          + "completed": false,
          + "completed_at": null | "2024-10-26T14:22:00Z",
          + "account": \(owner),
          + "contact": \(contact),
          + \(times)
        }
        """
    }

    static let tasks = resource(
        "tasks", "a task", task, lists: "?sort=-completed_at",
        requests: (
            new: #"{ "title": "x", "description": "y", "contact_id": 5, "completed": false }"#,
            changed: #"{ "title": "x", "description": null | "y", "contact_id": null | 5, "completed": true }"#
        ), required: "The title field is required. The completed field is required.",
        new: "The title field is required.", created: 200)
}
