import Foundation

/// A file that is sent to a server.
///
/// An app makes one from bytes or from a file. A server receives it spooled to disk, never whole in memory.
public struct Upload: Sendable {
    /// The place where the bytes are.
    public enum Content: Sendable {
        /// The bytes are in memory.
        case bytes([UInt8])
        /// The bytes are in a file on disk, which must stay there until the upload has ended. Use it for large files.
        case file(URL)
        /// The bytes are in a file of the server's.
        case spooled(any SpooledUpload)
    }

    /// The name that the sender declared. A server receives it without a path, control characters, line separators and
    /// characters that change the direction of text, in at most 255 bytes of UTF-8.
    public var filename: String
    /// The type that the sender declared, such as `image/jpeg`.
    public var contentType: String
    /// The place where the bytes are.
    public var content: Content

    /// Creates an upload.
    ///
    /// - Parameters:
    ///   - filename: The name that others will see.
    ///   - contentType: A media type, such as `image/jpeg` or `audio/m4a`.
    public init(_ content: Content, filename: String, contentType: String = "application/octet-stream") {
        self.content = content
        self.filename = filename
        self.contentType = contentType
    }

    /// Creates an upload of a file on disk, which must stay there until the upload has ended.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - filename: The name that others will see; by default the file's own.
    ///   - contentType: A media type; by default that of the name's extension, or `application/octet-stream`.
    public init(fileAt url: URL, filename: String? = nil, contentType: String? = nil) {
        let filename = filename ?? url.lastPathComponent
        self.init(
            .file(url), filename: filename,
            contentType: contentType ?? Self.contentType(of: filename) ?? "application/octet-stream")
    }

    /// Returns the media type that a name's extension stands for (IANA's registry); nil for an unknown one.
    static func contentType(of filename: String) -> String? {
        guard let dot = filename.lastIndex(of: "."), dot != filename.startIndex else { return nil }
        return types[filename[filename.index(after: dot)...].lowercased()]
    }

    private static let types = [
        "aac": "audio/aac", "avif": "image/avif", "csv": "text/csv", "gif": "image/gif", "heic": "image/heic",
        "heif": "image/heif", "jpeg": "image/jpeg", "jpg": "image/jpeg", "json": "application/json",
        "m4a": "audio/m4a", "m4v": "video/x-m4v", "mov": "video/quicktime", "mp3": "audio/mpeg", "mp4": "video/mp4",
        "oga": "audio/ogg", "ogg": "audio/ogg", "opus": "audio/ogg", "pdf": "application/pdf", "png": "image/png",
        "txt": "text/plain", "vcf": "text/vcard", "wav": "audio/wav", "webm": "video/webm", "webp": "image/webp",
        "zip": "application/zip",
    ]
}

/// A file that a server has received completely.
public protocol SpooledUpload: Sendable {
    /// The size in bytes.
    var count: Int64 { get }
    /// The SHA-256 digest of the bytes.
    var sha256: [UInt8] { get }
}

extension Upload: Codable {
    /// Always throws: uploads come out of a form and not through the decoder (see ``RequestCoding``).
    public init(from decoder: any Decoder) throws {
        throw DecodingError.dataCorrupted(
            .init(codingPath: decoder.codingPath, debugDescription: "An upload travels in multipart/form-data."))
    }

    public func encode(to encoder: any Encoder) throws {
        throw EncodingError.invalidValue(
            self, .init(codingPath: encoder.codingPath, debugDescription: "An upload travels in multipart/form-data."))
    }
}
