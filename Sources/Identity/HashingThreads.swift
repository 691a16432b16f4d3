import NIOConcurrencyHelpers
import NIOPosix

/// A few threads of their own for work that takes a core for a tenth of a second, with a bounded queue: event
/// loops never wait behind a hash, and a flood of sign-ins is refused at once and not after a minute in line.
final class HashingThreads: Sendable {
    private let pool: NIOThreadPool
    private let capacity: Int
    private let admitted = NIOLockedValueBox(0)

    init(count: Int, queueLimit: Int) {
        pool = NIOThreadPool(numberOfThreads: max(1, count))
        capacity = max(1, count) + max(0, queueLimit)
        pool.start()
    }

    deinit {
        // The threads hold the pool, so nothing else would ever end them.
        pool.shutdownGracefully { _ in }
    }

    /// Runs `work` on one of the threads. Once queued it runs to its end, also when the task is cancelled.
    ///
    /// Throws ``Passwords/Overloaded`` when the queue is full, or what `work` throws.
    func run<Output: Sendable>(_ work: @escaping @Sendable () throws -> Output) async throws -> Output {
        let admitted = admitted
        let hasRoom = admitted.withLockedValue { count in
            guard count < capacity else { return false }
            count += 1
            return true
        }
        guard hasRoom else { throw Passwords.Overloaded() }
        return try await withCheckedThrowingContinuation { continuation in
            pool.submit { state in
                let result = Result { () throws -> Output in
                    guard case .active = state else { throw CancellationError() }
                    return try work()
                }
                admitted.withLockedValue { $0 -= 1 }
                continuation.resume(with: result)
            }
        }
    }
}
