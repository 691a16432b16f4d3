import Contract
import Foundation
import HTTPTypes

/// How much of a limit is used, as a server says with `X-RateLimit-Limit`, `-Remaining` and `-Reset`.
public struct RateLimit: Hashable, Sendable {
    /// Requests in a window.
    public var limit: Int
    /// Those that are left of it.
    public var remaining: Int
    /// When the window ends, by the server's clock.
    public var resetsAt: Date

    public init(limit: Int, remaining: Int, resetsAt: Date) {
        self.limit = limit
        self.remaining = remaining
        self.resetsAt = resetsAt
    }

    /// Nil unless all three are there.
    public init?(_ headers: HTTPFields) {
        guard let limit = headers[.rateLimit].flatMap(Int.init),
            let remaining = headers[.rateLimitRemaining].flatMap(Int.init),
            let reset = headers[.rateLimitReset].flatMap(Int64.init)
        else { return nil }
        self.init(limit: limit, remaining: remaining, resetsAt: Date(timeIntervalSince1970: TimeInterval(reset)))
    }
}

extension Answer {
    /// Nil for an operation without a limit.
    public var rateLimit: RateLimit? { RateLimit(headers) }
}

extension APIError {
    /// Nil for an operation without a limit, and where a proxy refused in the server's stead.
    public var rateLimit: RateLimit? { RateLimit(headers) }
}
