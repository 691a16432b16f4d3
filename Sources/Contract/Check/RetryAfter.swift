import ContractClient
import HTTPTypes

/// Waits as long as the server asks for with 429 and `Retry-After`. All scenarios wait together, because they share an
/// address.
actor RetryAfterWait {
    /// The longest wait in seconds; a longer one is left to the scenario.
    static let longest = 600

    private let sleep: @Sendable (ContinuousClock.Instant) async throws -> Void
    private let waiting: @Sendable (_ seconds: Int) -> Void
    private var until = ContinuousClock.now

    /// - Parameter waiting: Called with every wait, in seconds.
    init(
        sleep: @escaping @Sendable (ContinuousClock.Instant) async throws -> Void,
        waiting: @escaping @Sendable (_ seconds: Int) -> Void
    ) {
        self.sleep = sleep
        self.waiting = waiting
    }

    /// Waits until the time that the server named last.
    func wait() async throws { try await sleep(until) }

    /// Extends the wait: the server accepts no requests for the given time.
    func hold(seconds: Int) {
        let end = ContinuousClock.now + .seconds(seconds)
        // Many requests are refused at the same time; one wait is enough for all.
        guard end > until + .seconds(1) else { return }
        until = end
        waiting(seconds)
    }
}

/// Repeats requests that the server limits, once it allows them.
struct RateLimitedTransport: Transport {
    let base: any Transport
    let retryAfter: RetryAfterWait
    /// The scenario's time limit, which is paused while waiting.
    let limit: TimeLimit
    /// Returns whether the server limits a request by address, even a valid one.
    let isLimited: @Sendable (TransportRequest) -> Bool

    func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
        guard isLimited(request) else { return try await base.send(request, progress: progress) }
        while true {
            let response = try await base.send(request, progress: progress)
            guard response.status == .tooManyRequests,
                let seconds = response.headers[.retryAfter].flatMap(Int.init), 1...RetryAfterWait.longest ~= seconds
            else { return response }
            await retryAfter.hold(seconds: seconds)
            try await limit.pause { try await retryAfter.wait() }
        }
    }
}
