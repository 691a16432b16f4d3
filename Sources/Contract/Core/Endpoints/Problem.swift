import HTTPTypes

/// The reason for which a request is refused: one type for every layer. Each API's `WireFailure` renders it.
public struct Problem: Error, Sendable {
    /// The HTTP status, 400 to 599.
    public var status: HTTPResponse.Status
    /// The message, exactly as the contract words it.
    public var message: String
    /// The single messages, where ``message`` joins those of several fields; nil where it is one.
    public var messages: [String]?
    /// Headers that are sent with the answer, such as `Retry-After` and `Allow`.
    public var headers: HTTPFields
    /// Distinguishes this refusal from others of the same status, for an API whose errors carry a code.
    public var code: Code?
    /// What went wrong, for a developer. Nil unless the server runs in development mode.
    public var details: String?

    /// The kinds of refusals that an API may give a code of its own.
    public enum Code: Sendable, Hashable {
        /// The body is not a JSON object.
        case malformedJSON
        /// An `Idempotency-Key` came earlier with a different request.
        case reusedIdempotencyKey
        /// A code that the API itself defines.
        case number(Int)
    }

    public init(_ status: HTTPResponse.Status, _ message: String, code: Code? = nil, headers: HTTPFields = [:]) {
        self.status = status
        self.message = message
        self.code = code
        self.headers = headers
    }

    /// Returns the same problem with a `Retry-After` header.
    public func retry(afterSeconds seconds: Int64) -> Problem {
        var copy = self
        copy.headers[.retryAfter] = String(max(1, seconds))
        return copy
    }
}

/// A field that could not be read as its declared type. A placeholder took its place (see ``WireField``).
public struct FieldIssue: Sendable, Hashable {
    /// The ways in which a field can be unreadable.
    public enum Kind: Sendable, Hashable {
        /// The field was not sent, or was null.
        case absent
        /// The field was sent with a value of another type.
        case mistyped
        /// The field takes whole numbers, and the number that was sent has a fraction or is too large. In a path or a query
        /// such a number counts as the largest that there is.
        case unrepresentable(Double)
        /// The text contains U+0000, which the two database engines store differently.
        case containsNUL
    }

    /// The name of the field on the wire.
    public let field: String
    /// The way in which the field was unreadable.
    public let kind: Kind

    public init(field: String, kind: Kind) {
        self.field = field
        self.kind = kind
    }
}
