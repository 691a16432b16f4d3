import NIOPosix

extension NIOThreadPool {
    /// Runs blocking work on the pool, to its end even when the task is cancelled: an abandoned upload must still be
    /// closed and removed.
    func blocking<Output: Sendable>(_ work: @escaping @Sendable () throws -> Output) async throws -> Output {
        try await withCheckedThrowingContinuation { continuation in
            submit { state in
                continuation.resume(
                    with: Result {
                        guard case .active = state else { throw NIOThreadPoolError.ThreadPoolInactive() }
                        return try work()
                    })
            }
        }
    }
}
