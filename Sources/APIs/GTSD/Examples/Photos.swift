extension GTSDExamples {
    private static let key = "progress-photos/1/2d9f5c1e-6a0b-4f7c-9d3e-8b1a2c4d5e6f-front.jpg"

    /// Its URL holds the first bytes of a JPEG.
    package static let photo = #"""
        {
          "id": #789,
          "fileKey": "\#(key)",
          "fileSize": 2048576,
          "mimeType": "image/jpeg",
          "width": 1920 | null,
          "height": 1080 | null,
          "takenAt": null | "2025-10-26T10:00:00.000Z",
          "uploadedAt": "2025-10-27T07:00:00.000Z",
          "createdAt": "2025-10-27T07:00:00.000Z",
          "downloadUrl": "data:image/jpeg;base64,/9j/4A==",
          "evidenceType": "before" | "during" | "after" | null
        }
        """#

    private static let confirmed = success(#"{ "photoId": #789, "downloadUrl": "data:image/jpeg;base64,/9j/4A==" }"#)

    static let photos = #"""
        POST /v1/progress/photo/presign key
        > { "fileName": "string.jpg", "contentType": "image/jpeg", "fileSize": 10485760 }
        > { "fileName": "é/\\\".jpg", "contentType": "image/jpeg", "fileSize": 9 }
        < 200 \#(success(#"{ "uploadUrl": "data:,", "fileKey": "\#(key)", "expiresIn": = 3600 }"#))

        POST /v1/progress/photo/confirm key
        > {
          "fileKey": "\#(key)",
          "width": 1920,
          "height": 1080,
          "fileSize": 2048576,
          "contentType": "image/jpeg",
          "takenAt": "2025-10-26T10:00:00.000Z",
          "taskId": 123,
          "evidenceType": "before"
        }
        < 201 \#(confirmed)
        < 200 \#(confirmed)

        GET /v1/progress/photos
        >
        > /v1/progress/photos?limit=50&offset=0&taskId=123
        < 200 \#(success(#"{ "photos": [\#(photo)], "pagination": { "limit": 50, "offset": 0, "total": 25 } }"#))

        DELETE /v1/progress/photo/{photoId}
        > /v1/progress/photo/789
        < 200 \#(message("Photo deleted successfully"))
        """#
}
