import HTTPTypes

/// A successful answer with its own status and headers, where the contract leaves a choice (201 or 200, cookies, 302).
public struct Answer<Output: Sendable>: Sendable {
    /// The body of an answer.
    public enum Content: Sendable {
        /// The value that the contract promises.
        case output(Output)
        /// A body that was encoded earlier and is sent again byte for byte.
        case encoded([UInt8])
    }

    /// The HTTP status of the answer.
    public var status: HTTPResponse.Status
    /// The headers that are sent in addition to those of every answer.
    public var headers: HTTPFields
    /// The body: a value, or bytes that were encoded earlier.
    public var content: Content
    /// The value that the operation returns. An answer that a client receives always has it; it is nil for a body that
    /// was encoded earlier.
    public var output: Output? { if case .output(let output) = content { output } else { nil } }

    public init(_ status: HTTPResponse.Status, _ output: Output, headers: HTTPFields = [:]) {
        self.status = status
        self.headers = headers
        self.content = .output(output)
    }

    /// Creates an answer from a body that was encoded earlier, such as one stored under an `Idempotency-Key`.
    public init(_ status: HTTPResponse.Status, encoded body: [UInt8], headers: HTTPFields = [:]) {
        self.status = status
        self.headers = headers
        self.content = .encoded(body)
    }
}

extension Answer where Output == Empty {
    public init(_ status: HTTPResponse.Status, headers: HTTPFields = [:]) {
        self.init(status, Empty(), headers: headers)
    }
}

extension HTTPField.Name {
    /// The key under which a creating request takes effect once, however often it is sent.
    public static let idempotencyKey = HTTPField.Name("Idempotency-Key")!
    /// Is `true` on an answer that repeats an earlier one.
    public static let idempotentReplayed = HTTPField.Name("Idempotent-Replayed")!
    /// The number of seconds for which the server remembers an `Idempotency-Key`: answers of servers that honour keys
    /// may have it, so that clients know.
    public static let idempotencyKeyLifetime = HTTPField.Name("Idempotency-Key-Lifetime")!
    /// The name of a request in answers and logs.
    public static let requestID = HTTPField.Name("X-Request-Id")!
    /// The chain of client addresses that a reverse proxy adds.
    public static let forwardedFor = HTTPField.Name("X-Forwarded-For")!
    /// The number of requests that a window allows.
    public static let rateLimit = HTTPField.Name("X-RateLimit-Limit")!
    /// The number of requests that are left in the window.
    public static let rateLimitRemaining = HTTPField.Name("X-RateLimit-Remaining")!
    /// The time at which the window ends, in seconds since 1970.
    public static let rateLimitReset = HTTPField.Name("X-RateLimit-Reset")!
}

/// A successful answer that carries nothing an app needs. Clients accept a body of plain text, or an empty one, in its
/// place.
public protocol PlainAnswer: Codable, Sendable {
    /// Creates the answer from a body that is not JSON.
    init(plain text: String)
}
