import Contract
import ContractMocks
import GTSDAPI
import GTSDExamples

extension GTSD.Photo {
    /// The example: photo 789, a JPEG whose URL holds only its first bytes.
    public static let example: Self = contractExample(GTSDExamples.photo)
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
