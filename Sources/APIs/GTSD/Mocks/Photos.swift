import Contract
import ContractMocks
import GTSDAPI

extension GTSD.Photo {
    /// The example: photo 789, a JPEG whose URL holds only its first bytes.
    public static let example: Self = contractExample(
        """
        {
          "id": 789,
          "fileKey": "progress-photos/1/2d9f5c1e-6a0b-4f7c-9d3e-8b1a2c4d5e6f-front.jpg",
          "fileSize": 2048576,
          "mimeType": "image/jpeg",
          "width": 1920,
          "height": 1080,
          "takenAt": null,
          "uploadedAt": "2025-10-27T07:00:00.000Z",
          "createdAt": "2025-10-27T07:00:00.000Z",
          "downloadUrl": "data:image/jpeg;base64,/9j/4A==",
          "evidenceType": "before"
        }
        """)
}

extension GTSDMock {
    func photos() {
        server.example(of: GTSD.PresignPhoto.self) { _ in
            // A file that is put there is accepted and not stored.
            APIResponse(.init(uploadUrl: "data:,", fileKey: GTSD.Photo.example.fileKey, expiresIn: 3600))
        }
        server.example(of: GTSD.ConfirmPhoto.self) { request in
            guard request.fileKey == GTSD.Photo.example.fileKey else {
                throw Problem(.forbidden, "Invalid file key: does not belong to authenticated user")
            }
            return APIResponse(.init(photoId: GTSD.Photo.example.id, downloadUrl: GTSD.Photo.example.downloadUrl))
        }
        server.example(of: GTSD.ListPhotos.self) { request in
            let (limit, offset) = (request.limit ?? 50, request.offset ?? 0)
            let photos = offset == 0 ? [GTSD.Photo.example] : []
            return APIResponse(
                .init(photos: photos, pagination: .init(limit: limit, offset: offset, total: photos.count)))
        }
        server.example(of: GTSD.DeletePhoto.self) { request in
            guard request.photoId == GTSD.Photo.example.id else {
                throw Problem(.notFound, "Photo \(request.photoId) not found or does not belong to user")
            }
            return APIResponse(message: "Photo deleted successfully")
        }
    }
}
