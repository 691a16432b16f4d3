import Contract
import Foundation
import HTTPTypes

/// A file that has been downloaded.
public struct DownloadedFile: Hashable, Sendable {
    /// The place of the file.
    public let location: URL
    /// The name under which it was uploaded (`Content-Disposition`); nil if the server does not tell. It may contain
    /// anything: never use it as a path.
    public let filename: String?
    /// The media type; nil if the server does not tell.
    public let contentType: String?
    /// The size in bytes.
    public let size: Int64

    public init(location: URL, filename: String? = nil, contentType: String? = nil, size: Int64) {
        self.location = location
        self.filename = filename
        self.contentType = contentType
        self.size = size
    }
}

/// Receives the number of bytes that are there so far, and the total.
public typealias DownloadProgress = @Sendable (_ received: Int64, _ total: Int64) -> Void

/// The store did not return a file: it does not exist any more, or the store fails.
public struct DownloadRefused: Error, Sendable {
    /// The status that the store answered.
    public let status: HTTPResponse.Status

    public init(status: HTTPResponse.Status) { self.status = status }
}

extension DownloadRefused: ReadableError {
    public var translationKey: String { "error.download-refused" }
    public var errorDescription: String? { "The file could not be downloaded." }
    public var recoverySuggestion: String? {
        status.code == 404 ? "It may have been deleted." : "Please try again later."
    }
}

/// Downloads a file to disk in pieces (RFC 9110 §14), never whole in memory.
///
/// The received bytes stay beside the destination, in a file with the extension `part`. A later download to the same
/// destination continues there, in another launch of the app too. It starts anew if the file has changed (`If-Range`), or
/// if the server sends no entity tag.
public struct FileDownload: Sendable {
    private let transport: any Transport
    private let retry: Retry
    private let piece: Int64

    /// Creates a download.
    ///
    /// - Parameters:
    ///   - transport: Carries requests.
    ///   - retry: The conditions under which a piece is asked for again; the attempts are counted anew after each piece
    ///     that comes.
    ///   - piece: The size of a piece in bytes, which is how much is in memory at a time.
    public init(transport: any Transport, retry: Retry = .standard, piece: Int64 = 2 << 20) {
        self.transport = transport
        self.retry = retry
        self.piece = max(1, piece)
    }

    /// Downloads a file. The destination appears when the file is whole; an earlier file there is replaced.
    ///
    /// - Parameters:
    ///   - destination: The place of the file; its folder exists.
    ///   - progress: Called with the bytes that are there so far and in all, from any thread.
    ///   - url: Returns a URL of the file that works without credentials. It is called again when the URL has expired.
    /// - Throws: ``DownloadRefused``, `CancellationError`, the network's error, that of the disk, the errors of `url`.
    public func run(
        to destination: URL, progress: DownloadProgress? = nil, from url: @Sendable () async throws -> URL
    ) async throws -> DownloadedFile {
        var part = try PartialFile(of: destination)
        var source = try await url()
        var isFresh = true
        var attempt = 0
        while true {
            try Task.checkCancellation()
            let offset = part.size
            var request = TransportRequest(method: .get, url: source)
            request.headers[.range] = "bytes=\(offset)-\(offset + piece - 1)"
            request.headers[.ifRange] = part.tag
            let response: TransportResponse
            do {
                response = try await transport.send(request, progress: nil)
            } catch {
                try Task.checkCancellation()
                guard let delay = retry.delay(after: error, attempt: attempt) else { throw error }
                try await retry.sleep(delay)
                attempt += 1
                continue
            }
            switch response.status {
            case .partialContent:
                guard let range = ContentRange(response.headers[.contentRange]), let total = range.total,
                    range.lower == offset, range.upper - range.lower == Int64(response.body.count) - 1
                else { throw URLError(.cannotParseResponse) }
                try part.append(response.body, tag: response.headers[.eTag])
                progress?(part.size, total)
                if part.size >= total { return try part.finish(response.headers) }
            case .ok:
                // The server knows no ranges, or the file is another one than that of the part.
                try part.restart()
                try part.append(response.body, tag: nil)
                progress?(part.size, part.size)
                return try part.finish(response.headers)
            case .rangeNotSatisfiable:
                // Nothing comes after the last byte, of which an empty file has none.
                let total = ContentRange(response.headers[.contentRange])?.total
                if total == offset { return try part.finish([:]) }
                guard offset > 0 else { throw DownloadRefused(status: response.status) }
                try part.restart()
            case .unauthorized, .forbidden, .notFound, .gone:
                // A signed URL may have expired since the last piece.
                guard !isFresh else { throw DownloadRefused(status: response.status) }
                source = try await url()
                isFresh = true
                continue
            default:
                guard let delay = retry.delay(after: response, attempt: attempt) else {
                    throw DownloadRefused(status: response.status)
                }
                try await retry.sleep(delay)
                attempt += 1
                continue
            }
            isFresh = false
            attempt = 0
        }
    }
}

/// The bytes of a download that have come so far, and the entity tag of the file that they are of.
private struct PartialFile {
    private let destination: URL
    private let part: URL
    private let tagFile: URL
    private(set) var tag: String?
    private(set) var size: Int64 = 0

    init(of destination: URL) throws {
        self.destination = destination
        part = destination.appendingPathExtension("part")
        tagFile = destination.appendingPathExtension("part-tag")
        tag = try? String(contentsOf: tagFile, encoding: .utf8)
        // Without a tag nothing tells what the bytes are of.
        guard tag != nil else {
            try restart()
            return
        }
        let length = try? FileManager.default.attributesOfItem(atPath: part.path)[.size] as? NSNumber
        size = length?.int64Value ?? 0
    }

    mutating func restart() throws {
        try? FileManager.default.removeItem(at: tagFile)
        try Data().write(to: part)
        (tag, size) = (nil, 0)
    }

    mutating func append(_ bytes: [UInt8], tag newTag: String?) throws {
        let file = try FileHandle(forWritingTo: part)
        defer { try? file.close() }
        try file.truncate(atOffset: UInt64(size))
        try file.seekToEnd()
        try file.write(contentsOf: bytes)
        size += Int64(bytes.count)
        guard tag == nil, let newTag else { return }
        try Data(newTag.utf8).write(to: tagFile, options: .atomic)
        tag = newTag
    }

    /// Moves the file to its destination.
    func finish(_ headers: HTTPFields) throws -> DownloadedFile {
        guard rename(part.path, destination.path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        try? FileManager.default.removeItem(at: tagFile)
        return DownloadedFile(
            location: destination, filename: headers[.contentDisposition].flatMap { HeaderParameters($0).filename },
            contentType: headers[.contentType], size: size)
    }
}

/// A value of `Content-Range` (RFC 9110 §14.4): `bytes 0-9/100`, or `bytes */100`.
private struct ContentRange {
    var lower: Int64 = 0
    var upper: Int64 = -1
    var total: Int64?

    init?(_ text: String?) {
        guard let text, text.hasPrefix("bytes ") else { return nil }
        let parts = text.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        total = Int64(parts[1])
        if parts[0] == "*" { return }
        let bounds = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard bounds.count == 2, let first = Int64(bounds[0]), let last = Int64(bounds[1]), first <= last else {
            return nil
        }
        (lower, upper) = (first, last)
    }
}

extension HTTPField.Name {
    fileprivate static let contentDisposition = Self("Content-Disposition")!
}
