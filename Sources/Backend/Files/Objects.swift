import Contract
import ContractServer
import Crypto
import HTTPTypes
import Hummingbird
import NIOCore
import ObjectStore

extension SpooledFile: SpooledUpload {}

/// Lets uploads wait in the object store's own spool, from where putting them in place is a rename.
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
        // What cannot be removed now is swept at the next start.
        func discard() async { try? await file.discard() }
    }
}

extension Routes {
    /// Serves a local store's objects under `/objects`, to whoever holds a signed URL.
    ///
    /// - Parameter places: Decides about files that are put there; nil for a store without upload URLs.
    public mutating func serve(
        _ store: LocalObjectStore, receiving places: UploadPlaces? = nil, phrases: Phrases = API.phrases
    ) {
        // A URL is for GET and HEAD, or for PUT: with another method it is as good as a forged one.
        for method in [HTTPRequest.Method.get, .head, .post, .put, .patch, .delete, .options] {
            plain(method, "/objects/{key*}") { request, _ in
                guard method == .put else { return try await store.respond(to: request, phrases: phrases) }
                guard let places else { throw invalidLink }
                return try await store.receive(request, into: places, phrases: phrases)
            }
        }
    }
}

private let invalidLink = Problem(.forbidden, "Invalid or expired link")

extension Request {
    /// What stands behind `/objects/`, as it came.
    fileprivate var object: (path: String, query: String) {
        let target = (head.path ?? "").dropFirst("/objects/".count)
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        return (parts.first.map(String.init) ?? "", parts.count > 1 ? String(parts[1]) : "")
    }
}

extension LocalObjectStore {
    /// Takes an object under a signed URL. The same bytes may come again, for an answer that was lost.
    fileprivate func receive(
        _ request: Request, into places: UploadPlaces, phrases: Phrases
    ) async throws -> Response {
        let (path, query) = request.object
        let upload: SignedUpload
        do { upload = try verifyUpload(path: path, query: query) } catch { throw invalidLink }
        let tooLarge = Problem(.contentTooLarge, phrases.bodyTooLarge, headers: [.connection: "close"])
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
            try await places.receive(upload.key) { admission in
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
            // What cannot be removed now is removed with its last reference.
            try? await file.discard()
            throw error
        }
        try? await file.discard()
        return Response(status: .ok)
    }

    /// Of what is stored, read in pieces; nil when there is nothing.
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

    fileprivate func respond(to request: Request, phrases: Phrases) async throws -> Response {
        let (path, query) = request.object
        let object: SignedDownload
        do {
            object = try verify(method: request.method.rawValue, path: path, query: query)
        } catch {
            throw invalidLink
        }
        let fields: HTTPFields = [
            .contentType: object.contentType, .contentDisposition: object.contentDisposition,
            .cacheControl: "private, max-age=3600",
        ]
        return try await answer(request, with: object.key, fields, phrases: phrases)
    }
}
