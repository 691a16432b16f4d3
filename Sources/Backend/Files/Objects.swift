import Contract
import ContractServer
import Crypto
import HTTPTypes
import Hummingbird
import NIOCore
import ObjectStore

extension SpooledFile: SpooledUpload {}

/// Spools uploads on the object store's own disk, so that storing one is a rename.
public struct ObjectSpool: UploadSpool {
    private let store: any ObjectStore

    public init(_ store: any ObjectStore) { self.store = store }

    public func begin() async throws -> any UploadWriter { Writer(file: try await store.spool()) }

    private struct Writer: UploadWriter {
        let file: SpooledFile

        func append(_ chunk: ByteBuffer) async throws { try await file.append(chunk) }
        func finish() async throws -> any SpooledUpload {
            try await file.finish()
            return file
        }
        // A file that cannot be removed now is swept at the next start.
        func discard() async { try? await file.discard() }
    }
}

extension Routes {
    /// Serves a local store's objects under `/objects` to clients that hold a signed URL.
    ///
    /// - Parameter policy: Decides about files that are uploaded; nil for a store without upload URLs.
    public mutating func serve(
        _ store: LocalObjectStore, receiving policy: UploadPolicy? = nil,
        errorMessages: ErrorMessages = API.errorMessages
    ) {
        // A URL is signed for GET and HEAD, or for PUT. With another method it is treated as a forged one.
        for method in [HTTPRequest.Method.get, .head, .post, .put, .patch, .delete, .options] {
            plain(method, "/objects/{key*}") { request, captures in
                // The key is decoded, because clients and proxies may have encoded any of its characters.
                let key = captures.first?.value ?? ""
                guard method == .put else {
                    return try await store.respond(to: request, for: key, errorMessages: errorMessages)
                }
                guard let policy else { throw invalidLink }
                return try await store.receive(request, as: key, into: policy, errorMessages: errorMessages)
            }
        }
    }
}

private let invalidLink = Problem(.forbidden, "Invalid or expired link")

extension LocalObjectStore {
    /// Stores an object under a signed URL. The client may send the same bytes again when an answer was lost.
    fileprivate func receive(
        _ request: Request, as key: String, into policy: UploadPolicy, errorMessages: ErrorMessages
    ) async throws -> Response {
        let upload: SignedUpload
        do { upload = try verifyUpload(path: key, query: request.uri.query ?? "") } catch { throw invalidLink }
        try request.headers.requireNoCoding(errorMessages)
        let tooLarge = Problem(.contentTooLarge, errorMessages.bodyTooLarge, headers: [.connection: "close"])
        if let declared = request.headers[.contentLength].flatMap(Int64.init), declared > upload.maximumSize {
            throw tooLarge
        }
        let file = try await spool()
        do {
            for try await chunk in request.body {
                guard file.count + Int64(chunk.readableBytes) <= upload.maximumSize else { throw tooLarge }
                try await file.append(chunk)
            }
            guard file.count > 0 else { throw Problem(.badRequest, "The file is empty") }
            try await policy.receive(upload.key) { admission in
                switch admission {
                case .open:
                    try await replace(upload.key, by: file)
                case .taken:
                    guard try await sha256(of: upload.key) == file.sha256 else {
                        throw Problem(.conflict, "Another file was uploaded here")
                    }
                }
            }
        } catch {
            // A file that cannot be removed now is removed with the last reference to it.
            try? await file.discard()
            throw error
        }
        try? await file.discard()
        return Response(status: .ok)
    }

    /// Returns the digest of a stored object, which is read in pieces; nil when there is no such object.
    private func sha256(of key: ObjectKey) async throws -> [UInt8]? {
        guard let size = try await size(of: key) else { return nil }
        var hash = SHA256()
        var offset: Int64 = 0
        while offset < size {
            guard let piece = try await content(of: key, in: offset..<min(size, offset + 1_048_576)), !piece.isEmpty
            else {
                return nil
            }
            hash.update(data: piece)
            offset += Int64(piece.count)
        }
        return Array(hash.finalize())
    }

    fileprivate func respond(
        to request: Request, for key: String, errorMessages: ErrorMessages
    ) async throws -> Response {
        let object: SignedDownload
        do {
            object = try verify(method: request.method.rawValue, path: key, query: request.uri.query ?? "")
        } catch {
            throw invalidLink
        }
        let fields: HTTPFields = [
            .contentType: object.contentType, .contentDisposition: object.contentDisposition,
            .cacheControl: "private, max-age=3600",
        ]
        return try await answer(request, with: object.key, fields, errorMessages: errorMessages)
    }
}
