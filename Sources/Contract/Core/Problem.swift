import HTTPTypes

/// A request that is refused, and why: one type for every layer. Each API's `WireFailure` renders it.
public struct Problem: Error, Sendable {
    /// 400 to 599.
    public var status: HTTPResponse.Status
    /// Exactly as the contract words it.
    public var message: String
    /// Sent with the answer: `Retry-After`, `Allow`.
    public var headers: HTTPFields
    /// Tells this refusal from others of the same status, for an API whose errors carry a number of their own.
    public var code: Code?
    /// What went wrong, in a developer's words; nil unless the server is run for development.
    public var details: String?

    public enum Code: Sendable, Hashable {
        /// The body is no JSON object.
        case malformedJSON
        /// An `Idempotency-Key` came with another request than before.
        case reusedIdempotencyKey
        /// The API's own number.
        case number(Int)
    }

    public init(_ status: HTTPResponse.Status, _ message: String, code: Code? = nil, headers: HTTPFields = [:]) {
        self.status = status
        self.message = message
        self.code = code
        self.headers = headers
    }

    /// The same problem, telling the client when to come back.
    public func retry(afterSeconds seconds: Int64) -> Problem {
        var copy = self
        copy.headers[.retryAfter] = String(max(1, seconds))
        return copy
    }
}

/// A field that could not be read as declared. A stand-in took its place (see ``WireField``).
public struct FieldIssue: Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
        /// Not sent, or null.
        case absent
        /// Sent, but of another type.
        case mistyped
        /// For a field of whole numbers a number that none of them is: with a fraction, or too large. What was sent.
        case unrepresentable(Double)
        /// Text with U+0000, which neither engine of the database stores alike.
        case containsNUL
    }

    /// The wire name.
    public let field: String
    public let kind: Kind

    public init(field: String, kind: Kind) {
        self.field = field
        self.kind = kind
    }
}
