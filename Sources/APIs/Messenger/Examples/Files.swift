extension MessengerExamples {
    package static let fileDescription = #"{ "filename": "photo.jpg", "mime_type": "image/jpeg", "size": #52100 }"#
    package static let file = """
        {
          "id": #42,
          "filename": "photo.jpg",
          "mime_type": "image/jpeg",
          "object_key": "uuid_photo.jpg"
        }
        """

    static let files = """
        POST /files key: Uploads a file of up to 50 MiB, of any type; it may be empty.
        > form
        < 201 \(file)
        ! 400 No file uploaded (use multipart/form-data field 'file')

        GET /files/{id}/download: Answers 302 with a URL that anyone who has it may fetch for an hour, without a token.
        > /files/42/download
        < 302
        ! 404 File not found

        DELETE /files/{id} addition: Removes an upload that no message and no profile uses, and answers 204.
        > /files/42
        < 204
        ! 404 File not found
        """
}
