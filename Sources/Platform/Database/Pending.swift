import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A caller that waits until a transaction has ended, and may be cancelled until it has begun. What the transaction
/// returns is in an ``Outcome``, because a generic class would look up its types at run time with each step.
class Pending: WaitingTransaction, @unchecked Sendable {
    private enum State {
        case new
        case waiting(UnsafeContinuation<Void, any Error>)
        case begun(UnsafeContinuation<Void, any Error>)
        case over
    }

    private let state = NIOLockedValueBox(State.new)
    /// The event loop on which the caller waits, if it is one.
    final let eventLoop: (any EventLoop)? = MultiThreadedEventLoopGroup.currentEventLoop

    /// Waits for the end.
    ///
    /// - Parameters:
    ///   - isPatient: Whether it keeps waiting when its task is cancelled.
    ///   - enqueue: Starts the work that resumes the caller.
    final func wait(isPatient: Bool, _ enqueue: () -> Void) async throws {
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { (continuation: UnsafeContinuation<Void, any Error>) in
                let isNew = state.withLockedValue { state in
                    guard case .new = state else { return false }
                    state = .waiting(continuation)
                    return true
                }
                if isNew { enqueue() } else { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            if !isPatient { Self.resume(takeContinuation(ifBegun: false), CancellationError()) }
        }
    }

    final func begin() -> Bool {
        state.withLockedValue { state in
            guard case .waiting(let continuation) = state else { return false }
            state = .begun(continuation)
            return true
        }
    }

    final func refuse(_ reason: any Error) { resume(reason) }

    /// Resumes the caller, once: with an error, or as done.
    final func resume(_ failure: (any Error)?) { Self.resume(takeContinuation(ifBegun: true), failure) }

    private static func resume(_ continuation: UnsafeContinuation<Void, any Error>?, _ failure: (any Error)?) {
        guard let continuation else { return }
        if let failure { continuation.resume(throwing: failure) } else { continuation.resume() }
    }

    private func takeContinuation(ifBegun: Bool) -> UnsafeContinuation<Void, any Error>? {
        state.withLockedValue { state in
            switch state {
            case .new:
                state = .over
                return nil
            case .begun(let continuation):
                guard ifBegun else { return nil }
                state = .over
                return continuation
            case .waiting(let continuation):
                state = .over
                return continuation
            case .over: return nil
            }
        }
    }
}

/// Holds the value that a transaction has returned. It is written before the caller is resumed, and read after.
final class Outcome<Value>: @unchecked Sendable {
    var value: Value?

    func get() throws -> Value {
        guard let value else { throw DatabaseFailure.unavailable("the transaction did not run") }
        return value
    }
}
