import NIOConcurrencyHelpers
import NIOCore

/// Keeps callers from waiting for an S3 that does not answer.
///
/// After several failures in a row every call fails at once. Then, every few seconds, one call goes through to see
/// whether S3 is back.
final class S3Breaker: Sendable {
    private struct State {
        var failures = 0
        /// When the next call goes through; nil while all do.
        var probeAt: NIODeadline?
    }

    private let threshold: Int
    private let pause: TimeAmount
    private let now: @Sendable () -> NIODeadline
    private let state = NIOLockedValueBox(State())

    /// - Parameters:
    ///   - threshold: How many failures in a row end it.
    ///   - pause: The time between one probe and the next.
    init(
        threshold: Int = 6, pause: TimeAmount = .seconds(5), now: @escaping @Sendable () -> NIODeadline = { .now() }
    ) {
        self.threshold = threshold
        self.pause = pause
        self.now = now
    }

    /// Admits a call, or throws ``S3Error`` at once. The end of an admitted call is reported by ``note(isWorking:)`` or
    /// ``release()``.
    func admit(_ operation: String) throws(S3Error) {
        let isAdmitted = state.withLockedValue { state in
            guard let probeAt = state.probeAt else { return true }
            let now = now()
            guard now >= probeAt else { return false }
            // The next one, unless this one finds it working.
            state.probeAt = now + pause
            return true
        }
        if !isAdmitted { throw refusal(operation) }
    }

    /// Throws ``S3Error`` where a call would be refused: for work that is worth sparing before it.
    func check(_ operation: String) throws(S3Error) {
        let isRefused = state.withLockedValue { state in state.probeAt.map { now() < $0 } ?? false }
        if isRefused { throw refusal(operation) }
    }

    /// Notes how a call ended.
    func note(isWorking: Bool) {
        state.withLockedValue { state in
            if isWorking {
                state = State()
            } else {
                state.failures += 1
                if state.failures >= threshold, state.probeAt == nil { state.probeAt = now() + pause }
            }
        }
    }

    /// Notes that a call ended without telling anything of S3: the next one may be the probe.
    func release() {
        state.withLockedValue { state in if state.probeAt != nil { state.probeAt = now() } }
    }

    private func refusal(_ operation: String) -> S3Error {
        S3Error(
            operation: operation, status: nil, code: nil,
            message: "not asked, since S3 has not answered several times in a row")
    }
}

/// How many of something are under way at once, within a limit.
final class ConcurrencyLimit: Sendable {
    private let limit: Int
    private let count = NIOLockedValueBox(0)

    init(limit: Int) { self.limit = limit }

    /// Runs a body, or returns nil at once when as many as may be are under way.
    func run<Output>(_ body: () async throws -> Output) async rethrows -> Output? {
        let isAdmitted = count.withLockedValue { count in
            guard count < limit else { return false }
            count += 1
            return true
        }
        guard isAdmitted else { return nil }
        defer { count.withLockedValue { $0 -= 1 } }
        return try await body()
    }
}

/// The outcome of a check, which holds for some seconds: however many ask, S3 is asked once.
actor CachedCheck {
    private let lifetime: TimeAmount
    private let now: @Sendable () -> NIODeadline
    private var outcome: (Result<Void, any Error>, until: NIODeadline)?
    private var running: Task<Void, any Error>?

    init(lifetime: TimeAmount = .seconds(3), now: @escaping @Sendable () -> NIODeadline = { .now() }) {
        self.lifetime = lifetime
        self.now = now
    }

    /// Throws the error of the check.
    func run(_ check: @escaping @Sendable () async throws -> Void) async throws {
        if let outcome, now() < outcome.until { return try outcome.0.get() }
        if let running { return try await running.value }
        let task = Task { try await check() }
        running = task
        let result = await task.result
        running = nil
        outcome = (result, now() + lifetime)
        try result.get()
    }
}
