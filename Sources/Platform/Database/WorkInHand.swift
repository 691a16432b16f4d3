import NIOConcurrencyHelpers

/// Counts the threads' work that was accepted and has not ended, for a database that closes.
///
/// Work is accepted under a lock, and handed to a thread outside of it. A database that only stopped its threads could close
/// its connections in between, and the work would find them closed.
final class WorkInHand: Sendable {
    private struct State {
        var count = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = NIOLockedValueBox(State())

    /// Notes that work was accepted. It is called under the lock under which no more is accepted once the database closes.
    func begin() { state.withLockedValue { $0.count += 1 } }

    /// Notes that work has ended, and uses no connection any more.
    func end() {
        let resumed = state.withLockedValue { state in
            precondition(state.count > 0, "Invalid state: no work in hand")
            state.count -= 1
            guard state.count == 0 else { return [] as [CheckedContinuation<Void, Never>] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in resumed { continuation.resume() }
    }

    /// Waits until all work has ended. No more may be accepted by then.
    func wait() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLockedValue { state in
                if state.count > 0 { state.waiting.append(continuation) }
                return state.count == 0
            }
            if isOver { continuation.resume() }
        }
    }
}
