extension MessengerExamples {
    package static let file = """
        {
          "id": #42,
          "filename": "photo.jpg",
          "mime_type": "image/jpeg",
          "object_key": "uuid_photo.jpg"
        }
        """

    static let files = """
        POST /files key
        > form
        < 201 \(file)

        GET /files/{id}/download
        > /files/42/download
        < 302

        DELETE /files/{id}
        > /files/42
        < 204
        """
}
