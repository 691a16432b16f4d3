extension MonicaExamples {
    static let country = #"{ "id": "FR" | null, "object": = "country", "name": "France", "iso": "FR" | null }"#

    package static let address = address(country: country, more: #""contact": \#(shortContact),"#)

    /// An address.
    ///
    /// - Parameter more: Members that a contact's own list of addresses does not have.
    static func address(country: String, more: String = "") -> String {
        """
        {
          "id": #1,
          "uuid": "6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f6074",
          "object": = "address",
          "name": "home" | null,
          "street": "1 rue" | null,
          "city": "Paris" | null,
          "province": null | "Île-de-France",
          "postal_code": "75001" | null,
          "country": \(country) | null,
          "account": \(owner),
          \(more)
          "created_at": "2024-01-15T10:30:00Z",
          "updated_at": "2024-10-26T14:22:00Z"
        }
        """
    }

    static let addresses =
        resource(
            "addresses", "an address", address, lists: "?contact_id=5&page=1&limit=10&sort=-updated_at",
            requests: (
                new: """
                { "contact_id": 5, "name": "home", "street": "1 rue", "city": "Paris", "province": "Île-de-France",
                  "postal_code": "75001", "country": "FR" }
                """,
                changed: """
                { "contact_id": 5, "name": null | "home", "street": null | "1 rue", "city": "Paris",
                  "province": null | "Île-de-France", "postal_code": null | "75001", "country": null | "FR" }
                """
            ), required: "The selected country is invalid.", names: ("address", "addresses")) + """


            GET /countries limited addition: Returns all countries and territories of ISO 3166-1, by their English names.
            < 200 { "data": [{ "id": "FR", "object": = "country", "name": "France", "iso": "FR" }] }
            """
}
