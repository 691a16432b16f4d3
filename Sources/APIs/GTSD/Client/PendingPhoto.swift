import Contract
import ContractClient
import Foundation
import GTSDAPI
import HTTPTypes

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Photos that the system uploads by itself, also while the app is suspended and after it has ended.
extension GTSDClient {
    /// The label of an upload, with which its photo is confirmed.
    private struct Label: Codable {
        var fileKey: String
        var contentType: String
        var size: Int
        var details: PhotoDetails
    }

    /// Asks for an upload URL, and returns an upload to it that ``BackgroundTransfers`` carries out. It begins within an hour
    /// or not at all.
    ///
    /// - Parameters:
    ///   - photo: The file on disk, with its name and type; up to 10 MiB of JPEG, PNG or HEIC.
    ///   - details: Additional information about the photo.
    /// - Throws: ``APIError`` when it is refused; the errors of ``send(_:idempotencyKey:)``.
    public func pendingUpload(of photo: Upload, details: PhotoDetails = .init()) async throws -> PendingTransfer {
        let (_, size) = try photo.body()
        let presign = GTSD.PresignPhoto(fileName: photo.filename, contentType: photo.contentType, fileSize: size)
        let place = try await send(presign).data
        guard let url = URL(string: place.uploadUrl) else { throw URLError(.badURL) }
        let label = Label(fileKey: place.fileKey, contentType: photo.contentType, size: size, details: details)
        return .upload(
            to: url, expiresAt: now().addingTimeInterval(TimeInterval(place.expiresIn)),
            label: try JSONEncoder().encode(label))
    }

    /// Confirms a photo after its upload has ended. It may be called again: there is one photo for each upload.
    ///
    /// - Throws: ``APIError`` with 404 when the file has not arrived; the errors of ``send(_:idempotencyKey:)``; a
    ///   `DecodingError` for another transfer than an upload of ``pendingUpload(of:details:)``.
    @discardableResult
    public func confirm(_ upload: PendingTransfer) async throws -> GTSD.ConfirmedPhoto {
        let label = try JSONDecoder().decode(Label.self, from: upload.label)
        return try await send(
            GTSD.ConfirmPhoto(
                fileKey: label.fileKey, width: label.details.width, height: label.details.height,
                fileSize: label.size, contentType: label.contentType, takenAt: label.details.takenAt,
                taskId: label.details.task, evidenceType: label.details.stage)
        ).data
    }
}
