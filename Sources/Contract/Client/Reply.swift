/// The answer that a callback gives: its first call counts, and the task that waits for it may be cancelled.
///
/// Callbacks of a platform come once, twice or never: `URLSessionWebSocketTask.sendPing` does all three. A continuation
/// that such a callback resumed itself would end the process, or be waited for without end.
package final class Reply<Value: Sendable>: Sendable {
    private struct State {
        var result: Result<Value, any Error>?
        var waiting: CheckedContinuation<Value, any Error>?
    }

    private let state = Locked(State())

    package init() {}

    /// Sets the result. Later calls do nothing.
    ///
    /// - Returns: Whether this was the first call, so that the result reaches the waiting task.
    @discardableResult
    package func deliver(_ result: Result<Value, any Error>) -> Bool {
        let (isFirst, waiting) = state.use { state -> (Bool, CheckedContinuation<Value, any Error>?) in
            guard state.result == nil else { return (false, nil) }
            state.result = result
            defer { state.waiting = nil }
            return (true, state.waiting)
        }
        waiting?.resume(with: result)
        return isFirst
    }

    /// Waits for the result. One task may wait.
    ///
    /// - Throws: The error of the result; `CancellationError` as soon as the task is cancelled, which is the result from
    ///   then on.
    package func value() async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.use { state in
                    if state.result == nil { state.waiting = continuation }
                    return state.result
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            deliver(.failure(CancellationError()))
        }
    }
}

extension Reply<Void> {
    /// Sets the result of a callback that reports an error or nothing.
    package func deliver(_ error: (any Error)?) { deliver(error.map { .failure($0) } ?? .success(())) }
}

extension Task where Failure == any Error, Success: Sendable {
    /// Waits for the task, which others may wait for too.
    ///
    /// - Throws: The task's error; `CancellationError` as soon as the waiting task is cancelled. The task itself
    ///   continues.
    package func sharedValue() async throws -> Success {
        let reply = Reply<Success>()
        Task<Void, Never> { reply.deliver(await result) }
        return try await reply.value()
    }
}
