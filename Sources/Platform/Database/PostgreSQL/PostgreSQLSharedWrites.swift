import Dispatch
import NIOConcurrencyHelpers

/// Writes of one kind that wait at the same time, and are made by one transaction on PostgreSQL.
///
/// A write that has the usual outcome is made together with others: a few statements for all of them, and one flush. What
/// is left out, because it is refused or needs more than that, is made by a transaction of its own, and so is everything
/// when the common transaction fails. So each write has its own answer, which does not depend on the others.
public final class SharedWrites<Input: Sendable, Output: Sendable>: Sendable {
    /// Makes writes in a transaction.
    ///
    /// - Returns: The output of each; nil for one that was left out.
    public typealias Body = @Sendable ([Input], Session) throws -> [Output?]

    /// The largest number of writes in a transaction.
    fileprivate static var together: Int { 64 }
    /// The number of transactions at the same time. There is more than one while one of them waits for a lock, or when
    /// more writes wait than one takes.
    fileprivate static var atOnce: Int { 3 }
    /// The time after which a transaction counts as waiting for a lock.
    private static var patience: DispatchTimeInterval { .milliseconds(50) }

    fileprivate struct State {
        var line: WaitingQueue<Waiting>
        var running = 0
        /// Whether it will be looked at soon if another transaction is needed.
        var isWatched = false
    }

    private let engine: PostgreSQLEngine
    private let metrics: DatabaseMetrics
    private let body: Body
    private let state: NIOLockedValueBox<State>

    init(_ engine: PostgreSQLEngine, waiting: QueueLimits, metrics: DatabaseMetrics, _ body: @escaping Body) {
        (self.engine, self.metrics, self.body) = (engine, metrics, body)
        let state = NIOLockedValueBox(State(line: WaitingQueue(waiting, metrics: metrics)))
        self.state = state
        engine.count { state.withLockedValue { $0.line.count } }
    }

    /// Makes a write together with others.
    ///
    /// - Returns: Nil when it was left out. It then has no effect.
    func write(_ input: Input) async throws -> Output? {
        let isPatient = QueueLimits.isPatient
        let waiting = Waiting(input)
        try await waiting.wait(isPatient: isPatient) {
            let (begins, refused) = state.withLockedValue { state in
                let refused = state.line.add(waiting, isPatient: isPatient)
                return (state.begins(isLate: false), refused)
            }
            for other in refused { other.refuse(QueueLimits.refusal) }
            if begins { run() } else { watch() }
        }
        return waiting.output
    }

    /// Looks a little later whether the running transaction still keeps others waiting.
    private func watch() {
        let isFirst = state.withLockedValue { state in
            defer { state.isWatched = true }
            return !state.isWatched
        }
        guard isFirst else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.patience) {
            let (begins, isBusy) = self.state.withLockedValue { state in
                state.isWatched = false
                let begins = state.begins(isLate: true)
                return (begins, !state.line.isEmpty)
            }
            if begins { self.run() } else if isBusy { self.watch() }
        }
    }

    private func run() { Task.detached { await self.work() } }

    /// Makes what waits, one transaction after the other.
    private func work() async {
        while true {
            let next = state.withLockedValue { state in
                let next = state.line.next(Self.together)
                if next.admitted.isEmpty { state.running -= 1 }
                return next
            }
            for write in next.refused { write.refuse(QueueLimits.refusal) }
            guard !next.admitted.isEmpty else { return }
            let writes = next.admitted.filter { $0.begin() }
            guard !writes.isEmpty else { continue }
            metrics.commits.record(writes.count)
            do {
                let inputs = writes.map(\.input)
                let outputs = try await QueueLimits.withoutLimit { [body] in
                    try await engine.write { try body(inputs, $0) }
                }
                for (write, output) in zip(writes, outputs) {
                    write.output = output
                    write.resume(nil)
                }
            } catch DatabaseFailure.unknownOutcome(let reason) {
                for write in writes { write.refuse(DatabaseFailure.unknownOutcome(reason)) }
            } catch {
                // One of them may be the reason.
                for write in writes { write.resume(nil) }
            }
        }
    }

    fileprivate final class Waiting: Pending, @unchecked Sendable {
        let input: Input
        /// It is written before the caller is resumed, and read after.
        var output: Output?

        init(_ input: Input) { self.input = input }
    }
}

extension SharedWrites.State {
    /// Counts another transaction if one is needed.
    ///
    /// - Parameter isLate: Whether those that run have kept others waiting.
    fileprivate mutating func begins(isLate: Bool) -> Bool {
        guard !line.isEmpty, running < SharedWrites.atOnce else { return false }
        guard running == 0 || isLate || line.count >= SharedWrites.together else { return false }
        running += 1
        return true
    }
}
