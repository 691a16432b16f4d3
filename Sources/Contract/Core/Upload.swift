import Foundation

/// A file on its way to a server.
///
/// An app makes one from bytes or a file. A server receives it spooled to disk, never whole in memory.
public struct Upload: Sendable {
    /// Where the bytes are.
    public enum Content: Sendable {
        /// In memory.
        case bytes([UInt8])
        /// In a file on disk, which must stay until the upload has ended. The way for what is large.
        case file(URL)
        /// At the server.
        case spooled(any SpooledUpload)
    }

    /// As declared by the sender; a name, never to be trusted as a path.
    public var filename: String
    /// As declared by the sender, such as `image/jpeg`.
    public var contentType: String
    public var content: Content

    /// - Parameters:
    ///   - filename: As others shall see it.
    ///   - contentType: Such as `image/jpeg` or `audio/m4a`.
    public init(_ content: Content, filename: String, contentType: String = "application/octet-stream") {
        self.content = content
        self.filename = filename
        self.contentType = contentType
    }
}

/// What a server holds of a file that has come in whole.
public protocol SpooledUpload: Sendable {
    /// In bytes.
    var count: Int64 { get }
    var sha256: [UInt8] { get }
}

extension Upload: Codable {
    /// Uploads come out of a form, beside the coder: see ``RequestCoding``.
    public init(from decoder: any Decoder) throws {
        throw DecodingError.dataCorrupted(
            .init(codingPath: decoder.codingPath, debugDescription: "An upload travels in multipart/form-data."))
    }

    public func encode(to encoder: any Encoder) throws {
        throw EncodingError.invalidValue(
            self, .init(codingPath: encoder.codingPath, debugDescription: "An upload travels in multipart/form-data."))
    }
}
