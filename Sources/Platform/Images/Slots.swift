/// Limits the number of tasks that run at the same time; the others wait in a queue. A user has at most one running
/// task and a share of the queue, so that a user who sends many images does not delay others.
actor Slots {
    /// The error for a task without a place in the queue.
    enum Full: Error {
        /// The whole queue is taken.
        case line
        /// The user has taken their share of it.
        case share
    }

    private struct Waiter {
        let id: Int
        let person: String?
        let continuation: CheckedContinuation<Void, any Error>
    }

    private let queueLimit: Int
    private let share: Int
    private var free: Int
    private var waiting: [Waiter] = []
    /// The users who have a running task.
    private var working: Set<String> = []
    private var nextID = 0

    /// - Parameter share: The number of places in the queue that one user may take.
    init(_ count: Int, queueLimit: Int, share: Int) {
        free = max(1, count)
        self.queueLimit = queueLimit
        self.share = share
    }

    /// Runs `work` when a slot is free.
    ///
    /// - Throws: ``Full``, `CancellationError` when the task is cancelled in the queue, and the error of `work`.
    ///
    /// - Parameter person: The user who has sent the work; nil for the server's own, which has no share.
    nonisolated func use<Output: Sendable>(
        for person: String?, _ work: @Sendable () async throws -> Output
    ) async throws -> Output {
        try await take(person)
        do {
            let output = try await work()
            await give(back: person)
            return output
        } catch {
            await give(back: person)
            throw error
        }
    }

    /// The number of tasks that wait, for tests.
    var queueLength: Int { waiting.count }

    private func take(_ person: String?) async throws {
        try Task.checkCancellation()
        if free > 0, begins(person) {
            free -= 1
            return
        }
        guard waiting.count < queueLimit else { throw Full.line }
        guard person == nil || waiting.count(where: { $0.person == person }) < share else { throw Full.share }
        let id = nextID
        nextID += 1
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                waiting.append(Waiter(id: id, person: person, continuation: $0))
            }
        } onCancel: {
            Task { await abandon(id) }
        }
    }

    /// Records that a user has a running task, and returns false when they have one already.
    private func begins(_ person: String?) -> Bool {
        guard let person else { return true }
        return working.insert(person).inserted
    }

    private func give(back person: String?) {
        if let person { working.remove(person) }
        // The slot is passed to the first waiting task whose user has no running one, so that no new task takes it
        // first.
        if let index = waiting.firstIndex(where: { begins($0.person) }) {
            waiting.remove(at: index).continuation.resume()
        } else {
            free += 1
        }
    }

    private func abandon(_ id: Int) {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return }
        waiting.remove(at: index).continuation.resume(throwing: CancellationError())
    }
}
