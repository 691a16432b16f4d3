import Contract
import Foundation
import HTTPTypes

/// The state of a rate limit, from `X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset`.
public struct RateLimit: Hashable, Sendable {
    /// The number of requests that a window allows.
    public var limit: Int
    /// The number of requests that are left in the window.
    public var remaining: Int
    /// The time at which the window ends, by the server's clock.
    public var resetsAt: Date

    public init(limit: Int, remaining: Int, resetsAt: Date) {
        self.limit = limit
        self.remaining = remaining
        self.resetsAt = resetsAt
    }

    /// Reads the headers. Fails unless all three are there.
    public init?(_ headers: HTTPFields) {
        guard let limit = headers[.rateLimit].flatMap(Int.init),
            let remaining = headers[.rateLimitRemaining].flatMap(Int.init),
            let reset = headers[.rateLimitReset].flatMap(Int64.init)
        else { return nil }
        self.init(limit: limit, remaining: remaining, resetsAt: Date(timeIntervalSince1970: TimeInterval(reset)))
    }
}

extension Answer {
    /// The state of the operation's rate limit; nil for an operation without one.
    public var rateLimit: RateLimit? { RateLimit(headers) }
}

extension APIError {
    /// The state of the operation's rate limit; nil for an operation without one, and when a proxy refused the request
    /// instead of the server.
    public var rateLimit: RateLimit? { RateLimit(headers) }
}
