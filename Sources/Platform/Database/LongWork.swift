import Foundation
import NIOConcurrencyHelpers

/// Runs blocking work that takes minutes on a thread of its own, so that it takes no thread from requests.
enum LongWork {
    /// Runs a closure.
    ///
    /// - Parameter body: The work. It asks now and then whether the task was cancelled.
    static func run<T: Sendable>(
        _ body: @escaping @Sendable (_ isCancelled: @escaping @Sendable () -> Bool) throws -> T
    ) async throws -> T {
        let cancelled = NIOLockedValueBox(false)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let thread = Thread {
                    continuation.resume(with: Result { try body { cancelled.withLockedValue { $0 } } })
                }
                thread.name = "long work"
                thread.start()
            }
        } onCancel: {
            cancelled.withLockedValue { $0 = true }
        }
    }
}
