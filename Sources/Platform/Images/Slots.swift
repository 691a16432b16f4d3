/// Limits how many tasks work at once; the others wait in line. No person has more than one task at work, nor more than
/// a share of the line, so that a person who sends many does not shut the others out.
actor Slots {
    /// There is no place in line.
    enum Full: Error {
        /// The whole line is taken.
        case line
        /// The person has taken their share of it.
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
    /// The persons who have a task at work.
    private var working: Set<String> = []
    private var nextID = 0

    /// - Parameter share: The number of places in line that one person may take.
    init(_ count: Int, queueLimit: Int, share: Int) {
        free = max(1, count)
        self.queueLimit = queueLimit
        self.share = share
    }

    /// Runs `work` when it is its turn.
    ///
    /// Throws ``Full``, `CancellationError` when the task is cancelled in line, and what `work` throws.
    ///
    /// - Parameter person: The person whose work it is; nil for the server's own, which has no share.
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

    /// Notes that a person has a task at work; false when they have one already.
    private func begins(_ person: String?) -> Bool {
        guard let person else { return true }
        return working.insert(person).inserted
    }

    private func give(back person: String?) {
        if let person { working.remove(person) }
        // The slot is handed over to the first in line whose person has none, so that no newcomer gets in between.
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
