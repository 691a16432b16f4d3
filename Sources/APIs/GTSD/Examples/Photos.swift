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
        POST /v1/progress/photo/presign key limited: Returns a URL to which a photo can be uploaded.
        > { "fileName": "string.jpg", "contentType": "image/jpeg", "fileSize": 10485760 }
        > { "fileName": "é/\\\".jpg", "contentType": "image/jpeg", "fileSize": 9 }
        < 200 \#(success(#"{ "uploadUrl": "data:,", "fileKey": "\#(key)", "expiresIn": = 3600 }"#))
        ! 400 Invalid filename: photo.jpg

        POST /v1/progress/photo/confirm key limited: Confirms that a photo has been uploaded.
        > {
          "fileKey": "\#(key)",
          "width": 1920,
          "height": 1080,
          "fileSize": 2048576,
          "contentType": "image/jpeg",
          "takenAt": "2025-10-26T10:00:00.000Z",
          "taskId": 123,
          ? "evidenceType": "before"
        }
        < 201 \#(confirmed)
        < 200 \#(confirmed)
        ! 400 Content type mismatch: expected image/jpeg, got image/png
        ! 400 File size mismatch: expected 2048576 bytes, got 9 bytes
        ! 403 Invalid file key: does not belong to authenticated user
        ! 404 File not found in storage: progress-photos/1/2d9f5c1e-6a0b-4f7c-9d3e-8b1a2c4d5e6f-front.jpg
        ! 404 Task 123 not found or does not belong to user

        GET /v1/progress/photos: Returns the caller's own photos, newest first.
        >
        > /v1/progress/photos?limit=50&offset=0&taskId=123
        < 200 \#(success(#"{ "photos": [\#(photo)], "pagination": { "limit": 50, "offset": 0, "total": 25 } }"#))

        DELETE /v1/progress/photo/{photoId}: Deletes a photo with its file.
        > /v1/progress/photo/789
        < 200 \#(message("Photo deleted successfully"))
        ! 404 Photo 789 not found or does not belong to user
        """#
}
