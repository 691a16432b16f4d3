import Contract
import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The conditions under which a request is sent again: after a network error, or after an answer that may differ later,
/// if sending it twice cannot act twice.
public struct Retry: Sendable {
    /// The number of repeats after the first attempt.
    public var attempts: Int
    /// The longest wait before the first repeat. The wait is drawn between zero and it (full jitter).
    public var base: Duration
    /// The factor by which each further wait grows.
    public var factor: Double
    /// The longest wait. A `Retry-After` beyond it is left to the caller.
    public var cap: Duration
    /// Whether each wait is exactly as long as computed, without jitter.
    public var isExact: Bool
    /// The statuses after which a request is repeated; by default 429, 502, 503 and 504.
    public var statuses: Set<Int>
    /// Waits for a duration. A test replaces it.
    public var sleep: @Sendable (Duration) async throws -> Void
    /// Returns a random number from 0 to 1.
    public var random: @Sendable () -> Double
    /// Returns this device's time, for a server that says when its limit resets instead of how long that takes.
    public var now: @Sendable () -> Date

    public init(
        attempts: Int = 3, base: Duration = .milliseconds(500), factor: Double = 2, cap: Duration = .seconds(20),
        isExact: Bool = false, statuses: Set<Int> = [429, 502, 503, 504],
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
        random: @escaping @Sendable () -> Double = { .random(in: 0...1) },
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.attempts = attempts
        self.base = base
        self.factor = factor
        self.cap = cap
        self.isExact = isExact
        self.statuses = statuses
        self.sleep = sleep
        self.random = random
        self.now = now
    }

    /// Three repeats, after at most 0.5, 1 and 2 seconds, or after what the server asks for, up to 20 seconds.
    public static let standard = Retry()
    /// No repeats: every failure reaches the caller at once.
    public static let never = Retry(attempts: 0)

    /// Returns the wait before the next attempt, or nil when the request should not be repeated.
    package func delay(after response: TransportResponse, attempt: Int) -> Duration? {
        delay(response.status, response.headers, attempt)
    }

    package func delay(after error: any Error, attempt: Int) -> Duration? {
        if error is CancellationError || (error as? URLError)?.code == .cancelled { return nil }
        // The error comes from a renewal of the token that the request needed.
        if let error = error as? APIError { return delay(error.status, error.headers, attempt) }
        return attempt < attempts ? backoff(attempt) : nil
    }

    private func delay(_ status: HTTPResponse.Status, _ headers: HTTPFields, _ attempt: Int) -> Duration? {
        guard attempt < attempts, statuses.contains(status.code) else { return nil }
        var retryAfter = headers[.retryAfter].flatMap(Int.init)
        if retryAfter == nil, status == .tooManyRequests, let reset = headers[.rateLimitReset].flatMap(Int.init) {
            retryAfter = max(0, reset.subtractingReportingOverflow(Int(now().timeIntervalSince1970)).partialValue)
        }
        guard let retryAfter else { return backoff(attempt) }
        let wait = Duration.seconds(max(0, retryAfter))
        return wait <= cap ? wait + (isExact ? .zero : backoff(0)) : nil
    }

    private func backoff(_ attempt: Int) -> Duration {
        min(cap, (0..<min(attempt, 16)).reduce(base) { wait, _ in wait * factor }) * (isExact ? 1 : random())
    }
}
