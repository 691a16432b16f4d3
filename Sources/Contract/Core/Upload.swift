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

    /// The name that the sender declared. A server must never use it as a path.
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
