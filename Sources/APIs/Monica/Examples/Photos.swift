extension MonicaExamples {
    package static let photo = """
        {
          "id": #1,
          "uuid": "6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f6081",
          "object": = "photo",
          "original_filename": "photo.jpg",
          "new_filename": "photos/6f1a2b3c.jpg",
          "filesize": #52100,
          "mime_type": "image/jpeg",
          "link": "https://monica.example/photos/6f1a2b3c.jpg",
          "account": \(owner),
          "contact": \(shortContact),
          "created_at": "2024-01-15T10:30:00Z",
          "updated_at": "2024-01-15T10:30:00Z"
        }
        """

    static let photos = """
        \(files(
            "photos", "photo", photo,
            text: #"{ "contact_id": 5, "data": "data:image/png;base64,iVBORw0KGgo=" }"#,
            refusals: [
                "The photo must be an image.", "The data must be an image.",
                "The photo field is required when data is not present. The data field is required when photo is not present.",
            ]))

        PUT|PATCH /contacts/{id}/avatar limited addition: Chooses a contact's picture, which every answer about the contact then has.
        > /contacts/1/avatar { "source": "default" }
        > /contacts/1/avatar { "source": "photo", "photo_id": 1 }
        < 200 \(one(contact))
        ! 404 \(missing("contact"))
        ! 404 \(missing("photo"))
        ! 422 The source field is required.
        ! 422 The photo id field is required when source is photo.

        PUT|PATCH /gifts/{gift}/photo/{photo} limited addition: Adds a photo to a gift, and returns the gift.
        > /gifts/1/photo/1 {}
        < 200 \(one(gift))
        ! 404 \(missing("gift"))
        ! 404 \(missing("photo"))
        ! 422 The photos may not have more than 10 items.
        """

    /// The operations of a kind of files.
    ///
    /// - Parameters:
    ///   - singular: One of them in sentences and refusals.
    ///   - text: A request that stores one as text, where there is such a request.
    ///   - refusals: The refusals of an upload.
    static func files(
        _ plural: String, _ singular: String, _ resource: String, text: String? = nil, refusals: [String]
    ) -> String {
        """
        GET /\(plural) limited addition: Returns a page of the \(plural) of all contacts, or of one.
        > /\(plural)?contact_id=5&page=1&limit=10&sort=-created_at
        < 200 \(page(resource, "/\(plural)", limit: 10))

        GET /contacts/{id}/\(plural) limited addition: Returns a page of the \(plural) of one contact.
        > /contacts/1/\(plural)?page=2&limit=50
        < 200 \(page(resource, "/contacts/1/\(plural)", limit: 10))
        ! 404 \(missing("contact"))

        GET /\(plural)/{id} limited addition: Returns a \(singular).
        > /\(plural)/1
        < 200 \(one(resource))
        ! 404 \(missing(singular))

        POST /\(plural) key limited addition: Stores a \(singular) of a contact, of up to 10 MiB.
        > form { "contact_id": "5" }\(text.map { "\n> " + $0 } ?? "")
        < 201 \(one(resource))
        ! 404 \(missing("contact"))
        \(refusals.map { "! 422 " + $0 }.joined(separator: "\n"))

        DELETE /\(plural)/{id} limited addition: Deletes a \(singular).
        > /\(plural)/1
        < 200 { "deleted": = true, "id": #1 }
        ! 404 \(missing(singular))
        """
    }
}
