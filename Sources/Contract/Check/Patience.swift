import ContractClient
import HTTPTypes

/// Waits as long as the server asks for with 429 and `Retry-After`. All scenarios wait together, because they share an
/// address.
actor Patience {
    /// The longest wait in seconds; a longer one is left to the scenario.
    static let longest = 600

    private let sleep: @Sendable (ContinuousClock.Instant) async throws -> Void
    private let told: @Sendable (_ seconds: Int) -> Void
    private var until = ContinuousClock.now

    /// - Parameter told: Called with every wait, in seconds.
    init(
        sleep: @escaping @Sendable (ContinuousClock.Instant) async throws -> Void,
        told: @escaping @Sendable (_ seconds: Int) -> Void
    ) {
        self.sleep = sleep
        self.told = told
    }

    /// Waits until the time that the server named last.
    func wait() async throws { try await sleep(until) }

    /// Extends the wait: the server accepts no requests for the given time.
    func hold(seconds: Int) {
        let end = ContinuousClock.now + .seconds(seconds)
        // Many requests are refused at the same time; one wait is enough for all.
        guard end > until + .seconds(1) else { return }
        until = end
        told(seconds)
    }
}

/// Repeats requests that the server limits, once it allows them.
struct PatientTransport: Transport {
    let base: any Transport
    let patience: Patience
    /// The scenario's time limit, which is paused while waiting.
    let limit: TimeLimit
    /// Returns whether the server limits a request by address, even a valid one.
    let isLimited: @Sendable (TransportRequest) -> Bool

    func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
        guard isLimited(request) else { return try await base.send(request, progress: progress) }
        while true {
            let response = try await base.send(request, progress: progress)
            guard response.status == .tooManyRequests,
                let seconds = response.headers[.retryAfter].flatMap(Int.init), 1...Patience.longest ~= seconds
            else { return response }
            await patience.hold(seconds: seconds)
            try await limit.pause { try await patience.wait() }
        }
    }
}
