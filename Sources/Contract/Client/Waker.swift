/// Counts calls of `wake()`, and ends the waits of tasks with each.
final class Waker: Sendable {
    private struct State {
        var count = 0
        var waiting: [Int: Reply<Void>] = [:]
        var nextID = 0
    }

    private let state = Locked(State())

    /// The number of calls so far.
    var count: Int { state.use { $0.count } }

    func wake() {
        let waiting = state.use { state in
            state.count += 1
            defer { state.waiting = [:] }
            return state.waiting
        }
        for reply in waiting.values { reply.deliver(nil) }
    }

    /// Returns once there have been more calls than `known`.
    ///
    /// - Throws: `CancellationError`.
    func wake(beyond known: Int) async throws {
        let reply = Reply<Void>()
        let id = state.use { state -> Int? in
            guard state.count <= known else { return nil }
            state.nextID += 1
            state.waiting[state.nextID] = reply
            return state.nextID
        }
        guard let id else { return }
        defer { state.use { $0.waiting[id] = nil } }
        try await reply.value()
    }
}
