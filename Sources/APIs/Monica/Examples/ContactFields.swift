extension MonicaExamples {
    package static let contactFieldType = """
        {
          "id": #1,
          "uuid": "6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f6076",
          "object": = "contactfieldtype",
          "name": "Email",
          "fontawesome_icon": "fa fa-envelope-open-o" | null,
          "protocol": "mailto:" | null,
          "delible": false,
          "type": "email" | null,
          "account": \(owner),
          "created_at": "2024-01-15T10:30:00Z",
          "updated_at": "2024-10-26T14:22:00Z"
        }
        """

    package static let contactField = """
        {
          "id": #1,
          "uuid": "6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f6075",
          "object": = "contactfield",
          "content": "john@example.com",
          "contact_field_type": \(contactFieldType),
          "labels": [],
          "account": \(owner),
          "contact": \(shortContact),
          "created_at": "2024-01-15T10:30:00Z",
          "updated_at": "2024-10-26T14:22:00Z"
        }
        """

    static let contactFields =
        resource(
            "contactfields", "a contact field", contactField, lists: "?contact_id=5&page=1&limit=10&sort=-updated_at",
            requests: (
                new: #"{ "contact_id": 5, "contact_field_type_id": 2, "data": "+1 555 0100" }"#,
                changed: #"{ "contact_id": 5, "contact_field_type_id": 2, "data": "+1 555 0101" }"#
            ),
            required: """
                The selected contact field type id is invalid.
                ! 422 The data must be a valid email address.
                ! 422 The data format is invalid.
                """, names: ("contact field", "contact fields")) + """


            GET /contactfieldtypes limited addition: Returns all types of contact fields, the oldest first.
            < 200 \(whole(contactFieldType, "/contactfieldtypes"))

            GET /contactfieldtypes/{id} limited addition: Returns a type of contact fields.
            > /contactfieldtypes/1
            < 200 \(one(contactFieldType))
            ! 404 \(missing("contact field type"))

            POST /contactfieldtypes key limited addition: Creates a type of contact fields.
            > { "name": "Telegram", "fontawesome_icon": "fa fa-telegram", "protocol": "tg:", "type": "social" }
            < 201 \(one(contactFieldType))
            ! 422 The name field is required.

            PUT|PATCH /contactfieldtypes/{id} limited addition: Replaces every field of a type of contact fields.
            > /contactfieldtypes/1 {
              "name": "Telegram",
              "fontawesome_icon": null | "fa fa-telegram",
              "protocol": null | "tg:",
              "type": null | "social"
            }
            < 200 \(one(contactFieldType))
            ! 404 \(missing("contact field type"))
            ! 422 The name field is required.

            DELETE /contactfieldtypes/{id} limited addition: Deletes a type of contact fields that is not in use.
            > /contactfieldtypes/1
            < 200 { "deleted": = true, "id": #1 }
            ! 404 \(missing("contact field type"))
            ! 422 The contact field type is in use.
            ! 422 The contact field type can't be deleted.
            """
}
