import Contract
import ContractClient
import Foundation
import GTSDAPI
import HTTPTypes

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension GTSDClient {
    /// The details of a photo besides its bytes.
    public struct PhotoDetails: Codable, Hashable, Sendable {
        /// The width in pixels.
        public var width: Int?
        /// The height in pixels.
        public var height: Int?
        /// The time at which the photo was taken.
        public var takenAt: GTSD.Timestamp?
        /// The task that the photo belongs to, together with its stage.
        public var task: GTSD.Task.ID?
        /// The stage of progress that the photo shows.
        public var stage: GTSD.PhotoStage?

        public init(
            width: Int? = nil, height: Int? = nil, takenAt: GTSD.Timestamp? = nil, task: GTSD.Task.ID? = nil,
            stage: GTSD.PhotoStage? = nil
        ) {
            self.width = width
            self.height = height
            self.takenAt = takenAt
            self.task = task
            self.stage = stage
        }
    }

    /// Uploads a progress photo: requests an upload URL, puts the file there and confirms it. Up to 10 MiB of JPEG, PNG
    /// or HEIC, from memory or from disk.
    ///
    /// A step that fails is repeated. When the whole upload fails, call again with the same key: no step acts twice.
    ///
    /// - Parameters:
    ///   - photo: The bytes or the file on disk, with a name and a type.
    ///   - details: Additional information about the photo.
    ///   - idempotencyKey: A key that names this upload for 24 hours; at most 200 printable ASCII characters. By
    ///     default each call is a new upload.
    ///   - progress: Called with the bytes sent so far and in all, from any thread. A repeat starts again at zero.
    /// - Throws: ``APIError`` when it is refused, ``UploadRefused`` when the store does not accept the file; the errors
    ///   of ``send(_:idempotencyKey:)``.
    @discardableResult
    public func uploadPhoto(
        _ photo: Upload, details: PhotoDetails = .init(), idempotencyKey: String = UUID().uuidString.lowercased(),
        progress: UploadProgress? = nil
    ) async throws -> GTSD.ConfirmedPhoto {
        let (body, size) = try photo.body()
        let presign = GTSD.PresignPhoto(fileName: photo.filename, contentType: photo.contentType, fileSize: size)
        func confirm(_ place: GTSD.PresignedUpload) async throws -> GTSD.ConfirmedPhoto {
            let confirmation = GTSD.ConfirmPhoto(
                fileKey: place.fileKey, width: details.width, height: details.height, fileSize: size,
                contentType: photo.contentType, takenAt: details.takenAt, taskId: details.task,
                evidenceType: details.stage)
            // A confirmation needs no key of its own: there is one photo for each upload URL.
            return try await send(confirmation).data
        }
        var place = try await send(presign, idempotencyKey: idempotencyKey + ".presign").data
        do {
            try await put(body, at: place, progress: progress)
        } catch let refusal as UploadRefused where [.forbidden, .conflict, .gone].contains(refusal.status) {
            if refusal.status == .forbidden {
                // The URL may be of an earlier call and have expired. The file may be there nevertheless.
                do { return try await confirm(place) } catch let error as APIError where error.status == .notFound {}
            }
            // Another file was confirmed there, or one that has been deleted since.
            place = try await send(presign).data
            try await put(body, at: place, progress: progress)
        }
        return try await confirm(place)
    }

    /// Puts a file into the store, and repeats it when the network or the store failed: the same bytes may come twice.
    private func put(
        _ body: TransportRequest.Body, at place: GTSD.PresignedUpload, progress: UploadProgress?
    ) async throws {
        guard let url = URL(string: place.uploadUrl) else { throw URLError(.badURL) }
        // The request goes without the token: the URL is its own permission, and may lead to another host.
        let request = TransportRequest(method: .put, url: url, body: body)
        var attempt = 0
        while true {
            let delay: Duration?
            let failure: any Error
            do {
                let response = try await transport.send(request, progress: progress)
                if response.status.kind == .successful { return }
                failure = UploadRefused(status: response.status)
                delay = retry.delay(after: response, attempt: attempt)
            } catch {
                failure = error
                delay = retry.delay(after: error, attempt: attempt)
            }
            guard let delay else { throw failure }
            try await retry.sleep(delay)
            attempt += 1
        }
    }
}

/// The store did not accept a file: the URL has expired, or the file is empty or larger than announced.
public struct UploadRefused: Error, Sendable {
    /// The status that the store answered.
    public let status: HTTPResponse.Status
}

extension UploadRefused: ReadableError {
    public var translationKey: String { "error.upload-refused" }
    public var errorDescription: String? { "The photo could not be uploaded." }
    public var recoverySuggestion: String? { "Please choose the photo again." }
}

extension Upload {
    func body() throws -> (TransportRequest.Body, size: Int) {
        switch content {
        case .bytes(let bytes): return (.bytes(bytes), bytes.count)
        case .file(let url):
            guard let size = try url.resourceValues(forKeys: [.fileSizeKey]).fileSize else {
                throw URLError(.cannotOpenFile)
            }
            return (.file(url), size)
        case .spooled: throw URLError(.unsupportedURL)
        }
    }
}
