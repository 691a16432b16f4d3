extension MonicaExamples {
    package static let pet = """
        {
          "id": #1,
          "uuid": "6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f607f",
          "object": = "pet",
          "name": "Tom" | null,
          "pet_category": { "id": #3, "object": = "pet_category", "name": "cat", "is_common": true },
          "account": \(owner),
          "contact": \(shortContact),
          "created_at": "2024-01-15T10:30:00Z",
          "updated_at": "2024-10-26T14:22:00Z"
        }
        """

    static let pets = resource(
        "pets", "a pet", pet, lists: "?contact_id=5&page=1&limit=10&sort=-updated_at",
        requests: (
            new: #"{ "pet_category_id": 3, "contact_id": 5, "name": "Tom" }"#,
            changed: #"{ "pet_category_id": 10, "contact_id": 5, "name": null | "Tom" }"#
        ), required: "The selected pet category id is invalid.", names: ("pet", "pets"))
}
