import ContractClient
import HTTPTypes

/// Waits as long as the server asks for with 429 and `Retry-After`: all scenarios together, since they come from one
/// address.
actor Patience {
    /// A longer wait is the scenario's own affair.
    static let longest = 600

    private let sleep: @Sendable (ContinuousClock.Instant) async throws -> Void
    private let told: @Sendable (_ seconds: Int) -> Void
    private var until = ContinuousClock.now

    /// - Parameter told: Told of every wait, in seconds.
    init(
        sleep: @escaping @Sendable (ContinuousClock.Instant) async throws -> Void,
        told: @escaping @Sendable (_ seconds: Int) -> Void
    ) {
        self.sleep = sleep
        self.told = told
    }

    /// Waits until the time is over that the server named last.
    func wait() async throws { try await sleep(until) }

    /// The server wants nothing for so long.
    func hold(seconds: Int) {
        let end = ContinuousClock.now + .seconds(seconds)
        // Many are refused at once; one wait is enough for all.
        guard end > until + .seconds(1) else { return }
        until = end
        told(seconds)
    }
}

/// Sends requests that the server limits again, once it allows.
struct PatientTransport: Transport {
    let base: any Transport
    let patience: Patience
    /// Stands still meanwhile.
    let limit: TimeLimit
    /// Which requests the server limits by address, however right they are.
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
