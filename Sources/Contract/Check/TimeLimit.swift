/// A limit for the duration of a scenario. The time is paused while the server asks to wait.
actor TimeLimit {
    private let limit: Duration
    private let start = ContinuousClock.now
    /// The sum of waits that have ended.
    private var waited = Duration.zero
    private var waits = 0
    private var waitingSince = ContinuousClock.now

    init(_ limit: Duration) { self.limit = limit }

    /// The time that has been used.
    var used: Duration {
        let now = ContinuousClock.now
        return now - start - waited - (waits > 0 ? now - waitingSince : .zero)
    }

    /// Runs a function that does not count.
    nonisolated func pause<T: Sendable>(_ body: () async throws -> T) async rethrows -> T {
        await beginWaiting()
        do {
            let result = try await body()
            await endWaiting()
            return result
        } catch {
            await endWaiting()
            throw error
        }
    }

    /// Runs a function, or cancels it when the time is over.
    ///
    /// - Throws: ``TimedOut``, or the function's error.
    nonisolated func hold(_ body: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await body() }
            group.addTask {
                while true {
                    let rest = await self.limit - self.used
                    guard rest > .zero else { throw TimedOut(limit: self.limit) }
                    try await Task.sleep(for: rest)
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func beginWaiting() {
        if waits == 0 { waitingSince = .now }
        waits += 1
    }

    private func endWaiting() {
        waits -= 1
        if waits == 0 { waited += ContinuousClock.now - waitingSince }
    }
}

/// A scenario exceeded its time limit: something that it waited for did not come.
public struct TimedOut: Error, CustomStringConvertible {
    public let limit: Duration

    public var description: String { "no end within \(limit)" }
}
