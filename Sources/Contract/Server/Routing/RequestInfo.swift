import Contract
import HTTPTypes

/// The parts of a request beside its fields.
public struct RequestInfo: Sendable {
    /// The id of the request in answers and logs.
    public let id: String
    /// The client's address: the peer's, or the one that a trusted proxy names.
    public let address: ClientAddress
    public let headers: HTTPFields
    /// The key of an idempotent request: set when the client sent an `Idempotency-Key` to an operation that honours it.
    public internal(set) var once: Once?

    public init(id: String, address: ClientAddress, headers: HTTPFields, once: Once? = nil) {
        self.id = id
        self.address = address
        self.headers = headers
        self.once = once
    }
}

/// The key of a request that takes effect once, however often it is sent.
public struct Once: Sendable, Hashable {
    /// The operation and the caller: the same key in another scope is another key.
    public let scope: String
    public let key: String
    /// The HMAC-SHA-256 of the request's fields; for an upload, of its form's fields and the file's bytes.
    public let fingerprint: [UInt8]

    public init(scope: String, key: String, fingerprint: [UInt8]) {
        self.scope = scope
        self.key = key
        self.fingerprint = fingerprint
    }

    /// Returns whether the text is a key: 1 to 255 printable ASCII characters.
    static func isKey(_ text: String) -> Bool {
        1...255 ~= text.utf8.count && text.utf8.allSatisfy { 0x20...0x7E ~= $0 }
    }
}
