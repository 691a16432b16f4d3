import HTTPTypes

/// A success with its status and headers, where the contract leaves a choice (201 or 200, cookies, 302).
public struct Answer<Output: Sendable>: Sendable {
    /// What the body is made of.
    public enum Content: Sendable {
        /// The value that the contract promises.
        case output(Output)
        /// A body that was encoded before, answered again byte for byte.
        case encoded([UInt8])
    }

    public var status: HTTPResponse.Status
    public var headers: HTTPFields
    public var content: Content
    /// What the operation answers; a client's answers always have it. Nil for a body that was encoded before.
    public var output: Output? { if case .output(let output) = content { output } else { nil } }

    public init(_ status: HTTPResponse.Status, _ output: Output, headers: HTTPFields = [:]) {
        self.status = status
        self.headers = headers
        self.content = .output(output)
    }

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
    /// The key under which a creating request is done once, however often it is sent.
    public static let idempotencyKey = HTTPField.Name("Idempotency-Key")!
    /// `true` on an answer that was given before.
    public static let idempotentReplayed = HTTPField.Name("Idempotent-Replayed")!
    /// Names a request in answers and logs.
    public static let requestID = HTTPField.Name("X-Request-Id")!
    public static let forwardedFor = HTTPField.Name("X-Forwarded-For")!
    /// How many requests a window has room for.
    public static let rateLimit = HTTPField.Name("X-RateLimit-Limit")!
    /// How many are left of them.
    public static let rateLimitRemaining = HTTPField.Name("X-RateLimit-Remaining")!
    /// When the window ends, in seconds since 1970.
    public static let rateLimitReset = HTTPField.Name("X-RateLimit-Reset")!
}

/// A success that says nothing an app needs: clients take a body of plain text, or none, for it too.
public protocol PlainAnswer: Codable, Sendable {
    init(plain text: String)
}
