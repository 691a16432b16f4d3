/// So many tasks may work at once; the rest wait in line, and are refused when the line is long.
actor Slots {
    /// The line is full.
    struct Full: Error {}

    private let queueLimit: Int
    private var free: Int
    private var waiting: [(id: Int, continuation: CheckedContinuation<Void, any Error>)] = []
    private var nextID = 0

    init(_ count: Int, queueLimit: Int) {
        free = max(1, count)
        self.queueLimit = queueLimit
    }

    /// Runs `work` when it is its turn.
    ///
    /// Throws ``Full``, `CancellationError` when the task is cancelled in line, and what `work` throws.
    nonisolated func use<Output: Sendable>(_ work: @Sendable () async throws -> Output) async throws -> Output {
        try await take()
        do {
            let output = try await work()
            await give()
            return output
        } catch {
            await give()
            throw error
        }
    }

    /// How many wait, for tests.
    var queueLength: Int { waiting.count }

    private func take() async throws {
        try Task.checkCancellation()
        if free > 0 {
            free -= 1
            return
        }
        guard waiting.count < queueLimit else { throw Full() }
        let id = nextID
        nextID += 1
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiting.append((id, $0)) }
        } onCancel: {
            Task { await abandon(id) }
        }
    }

    private func give() {
        // The slot goes from hand to hand, so nobody who comes now gets in between.
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().continuation.resume() }
    }

    private func abandon(_ id: Int) {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return }
        waiting.remove(at: index).continuation.resume(throwing: CancellationError())
    }
}
