import ContractClient
import Foundation
import HTTPTypes

/// Both ends of one open socket: the app uses it as a `Socket`, the mock pushes messages and ends it.
public final class MockConnection: Socket {
    /// Receives the texts that the app sends, one after the other.
    public typealias Receiver = @Sendable (MockConnection, String) -> Void

    private struct State: Sendable {
        var inbox: [SocketMessage] = []
        var waiting: (turn: Int, continuation: CheckedContinuation<SocketMessage, any Error>)?
        var turn = 0
        var end: SocketClosed?
        var receiver: Receiver?
    }

    /// The URL that was opened.
    public let url: URL
    /// The headers of the upgrade request.
    public let headers: HTTPFields
    private let state = Locked(State())

    init(url: URL, headers: HTTPFields) {
        self.url = url
        self.headers = headers
    }

    func begin(_ receiver: @escaping Receiver) { state.use { $0.receiver = receiver } }

    // MARK: The mock's end

    /// Whether neither side has ended the connection.
    public var isOpen: Bool { state.use { $0.end == nil } }

    /// Sends a text to the app.
    public func push(_ text: String) {
        state.use { state in
            guard state.end == nil else { return }
            if let (_, continuation) = state.waiting {
                state.waiting = nil
                continuation.resume(returning: .text(text))
            } else {
                state.inbox.append(.text(text))
            }
        }
    }

    /// Ends the connection. The app still receives what was pushed before.
    ///
    /// - Parameter code: The close code; 1006 for a broken connection.
    public func end(_ code: UInt16, reason: String = "") {
        state.use { state in
            guard state.end == nil else { return }
            let closed = SocketClosed(code: code, reason: reason)
            state.end = closed
            state.receiver = nil
            state.waiting?.continuation.resume(throwing: closed)
            state.waiting = nil
        }
    }

    // MARK: The app's end

    public func send(_ text: String) async throws {
        let receiver = try state.use { state in
            if let end = state.end { throw end }
            return state.receiver
        }
        receiver?(self, text)
    }

    public func receive() async throws -> SocketMessage {
        let turn = state.use { state in
            state.turn += 1
            return state.turn
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                state.use { state in
                    if Task.isCancelled {
                        continuation.resume(throwing: CancellationError())
                    } else if !state.inbox.isEmpty {
                        continuation.resume(returning: state.inbox.removeFirst())
                    } else if let end = state.end {
                        continuation.resume(throwing: end)
                    } else {
                        precondition(state.waiting == nil, "A socket has one receiver at a time.")
                        state.waiting = (turn, continuation)
                    }
                }
            }
        } onCancel: {
            state.use { state in
                guard let waiting = state.waiting, waiting.turn == turn else { return }
                state.waiting = nil
                waiting.continuation.resume(throwing: CancellationError())
            }
        }
    }

    public func ping() async throws {
        try state.use { state in
            if let end = state.end { throw end }
        }
    }

    public func close(code: UInt16, reason: String) async { end(code, reason: reason) }
}
