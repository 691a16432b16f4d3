import Contract
import HTTPTypes

/// The parts of a request beside its fields.
public struct RequestInfo: Sendable {
    /// The id of the request in answers and logs.
    public let id: String
    /// The client's address: the peer's, or the one that a trusted proxy names.
    public let address: ClientAddress
    public let headers: HTTPFields
    /// The origin at which the client reached the server; nil for a request that came over no connection.
    public let origin: RequestOrigin?
    /// The key, when the client sent an `Idempotency-Key` to an operation that honours it.
    public internal(set) var idempotencyKey: IdempotencyKey?

    public init(
        id: String, address: ClientAddress, headers: HTTPFields, origin: RequestOrigin? = nil,
        idempotencyKey: IdempotencyKey? = nil
    ) {
        self.id = id
        self.address = address
        self.headers = headers
        self.origin = origin
        self.idempotencyKey = idempotencyKey
    }
}

/// A key under which a request is done once, however often it is sent.
public struct IdempotencyKey: Sendable, Hashable {
    /// The caller and what is asked for: the same key in another scope is another key.
    public let scope: String
    /// The text of the header.
    public let text: String
    /// The HMAC-SHA-256 of the request's fields; for an upload, of its form's fields and the file's bytes.
    public var fingerprint: [UInt8] { fingerprints[0] }
    /// The fingerprint with the present key, and those with keys that were replaced.
    private let fingerprints: [[UInt8]]
    /// The hours for which the key is remembered.
    public let hours: Int

    /// - Parameters:
    ///   - fingerprints: One or more: the one to keep, and those with keys that were replaced.
    ///   - hours: The hours for which the key is remembered.
    public init(scope: String, text: String, fingerprints: [[UInt8]], hours: Int = 24) {
        precondition(!fingerprints.isEmpty, "a key has a fingerprint")
        self.hours = hours
        self.scope = scope
        self.text = text
        self.fingerprints = fingerprints
    }

    /// Returns whether a fingerprint that was kept is this request's, under the present key or one that was replaced.
    public func matches(_ fingerprint: [UInt8]) -> Bool { fingerprints.contains(fingerprint) }

    /// Returns whether a text is 1 to 255 printable ASCII characters.
    static func isValid(_ text: String) -> Bool {
        1...255 ~= text.utf8.count && text.utf8.allSatisfy { 0x20...0x7E ~= $0 }
    }
}
