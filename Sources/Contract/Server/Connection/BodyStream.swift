import NIOConcurrencyHelpers
import NIOCore

/// The body of a request whose handler begins before all of it has been received.
///
/// It has no limit of its own: ``ConnectionGuard`` reads no more of a large body than was asked for.
final class BodyStream: AsyncSequence, Sendable {
    private struct State {
        var pieces = CircularBuffer<ByteBuffer>()
        var end: Result<Void, any Error>?
        var reader: CheckedContinuation<ByteBuffer?, any Error>?
    }

    private let state = NIOLockedValueBox(State())

    func append(_ piece: ByteBuffer) {
        let reader = state.withLockedValue { state -> CheckedContinuation<ByteBuffer?, any Error>? in
            guard state.end == nil else { return nil }
            if state.reader == nil { state.pieces.append(piece) }
            return state.reader.take()
        }
        reader?.resume(returning: piece)
    }

    /// Ends the body. Only the first end counts.
    ///
    /// - Parameter error: The error that the reader gets after the pieces; nil when the body is complete.
    func finish(throwing error: (any Error)? = nil) {
        let end: Result<Void, any Error> = error.map { .failure($0) } ?? .success(())
        let reader = state.withLockedValue { state -> CheckedContinuation<ByteBuffer?, any Error>? in
            guard state.end == nil else { return nil }
            state.end = end
            return state.reader.take()
        }
        reader?.resume(with: end.map { nil })
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        let body: BodyStream

        func next() async throws -> ByteBuffer? {
            try await withCheckedThrowingContinuation { continuation in
                let result = body.state.withLockedValue { state -> Result<ByteBuffer?, any Error>? in
                    if let piece = state.pieces.popFirst() { return .success(piece) }
                    if let end = state.end { return end.map { nil } }
                    state.reader = continuation
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(body: self) }
}
