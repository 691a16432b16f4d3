import NIOConcurrencyHelpers
import NIOPosix

/// Runs work that takes a core for a tenth of a second on a few threads of its own, with a bounded queue. Event loops
/// never wait for a hash, and a flood of sign-ins is refused at once, and not after a minute in the queue.
final class HashingThreads: Sendable {
    private struct State {
        var queue: HashingQueue
        var lastID: UInt64 = 0
    }

    private let pool: NIOThreadPool
    private let state: NIOLockedValueBox<State>

    init(count: Int, queueLimit: Int) {
        pool = NIOThreadPool(numberOfThreads: max(1, count))
        state = NIOLockedValueBox(State(queue: HashingQueue(threads: count, limit: queueLimit)))
        pool.start()
    }

    var waiting: Int { state.withLockedValue { $0.queue.waiting } }

    deinit {
        // The threads hold references to the pool, so nothing else would end them.
        pool.shutdownGracefully { _ in }
    }

    /// Runs `work` on one of the threads. Work whose task is cancelled while it waits never runs; work that has begun
    /// runs to its end.
    ///
    /// - Throws: ``Passwords/Overloaded`` when there is no place in the queue; the errors of `work`.
    func run<Output: Sendable>(
        for client: Passwords.Client, _ work: @escaping @Sendable () throws -> Output
    ) async throws -> Output {
        try Task.checkCancellation()
        let id = state.withLockedValue { state in
            state.lastID += 1
            return state.lastID
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let job = HashingQueue.Job(id: id, client: client) { verdict in
                    continuation.resume(
                        with: Result {
                            switch verdict {
                            case .begin: try work()
                            case .overloaded: throw Passwords.Overloaded()
                            case .cancelled: throw CancellationError()
                            }
                        })
                }
                let dropped = state.withLockedValue { $0.queue.add(job) }
                dropped?.run(.overloaded)
                // There is one call for each accepted job. A call whose job was dropped runs another job, or none.
                if dropped?.id != id { pool.submit { [state] in Self.runNext(of: state, isActive: $0 == .active) } }
            }
        } onCancel: {
            state.withLockedValue { $0.queue.remove(id, of: client) }?.run(.cancelled)
        }
    }

    private static func runNext(of state: NIOLockedValueBox<State>, isActive: Bool) {
        guard let job = state.withLockedValue({ $0.queue.next() }) else { return }
        job.run(isActive ? .begin : .cancelled)
        state.withLockedValue { $0.queue.finish() }
    }
}
