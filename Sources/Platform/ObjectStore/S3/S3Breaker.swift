import NIOConcurrencyHelpers
import NIOCore

/// Keeps callers from waiting for an S3 server that does not answer.
///
/// After several consecutive failures every call fails at once. Then one call is let through every few seconds, to find
/// out whether S3 answers again.
final class S3Breaker: Sendable {
    private struct State {
        var failures = 0
        /// The time at which the next call is let through; nil while all calls are.
        var probeAt: NIODeadline?
    }

    private let threshold: Int
    private let pause: TimeAmount
    private let now: @Sendable () -> NIODeadline
    private let state = NIOLockedValueBox(State())

    /// Makes a breaker.
    ///
    /// - Parameters:
    ///   - threshold: The number of consecutive failures that opens it.
    ///   - pause: The time between two probes.
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
            // The next probe, unless this one finds S3 working.
            state.probeAt = now + pause
            return true
        }
        if !isAdmitted { throw refusal(operation) }
    }

    /// Throws ``S3Error`` when a call would be refused, to save the work before the call.
    func check(_ operation: String) throws(S3Error) {
        let isRefused = state.withLockedValue { state in state.probeAt.map { now() < $0 } ?? false }
        if isRefused { throw refusal(operation) }
    }

    /// Records how a call ended.
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

    /// Records that a call ended without a result about S3, so that the next one may be the probe.
    func release() {
        state.withLockedValue { state in if state.probeAt != nil { state.probeAt = now() } }
    }

    private func refusal(_ operation: String) -> S3Error {
        S3Error(
            operation: operation, status: nil, code: nil,
            message: "not asked, since S3 has not answered several times in a row")
    }
}

/// Limits how many operations run at the same time.
final class ConcurrencyLimit: Sendable {
    private let limit: Int
    private let count = NIOLockedValueBox(0)

    init(limit: Int) { self.limit = limit }

    /// Runs a closure, or returns nil at once when the limit is reached.
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

/// The result of a check, which is kept for some seconds: S3 is asked once for any number of callers.
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
