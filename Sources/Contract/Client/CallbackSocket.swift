import Foundation

/// The part of a platform's WebSocket task that ``CallbackSocket`` uses.
package protocol CallbackTask: Sendable {
    func start()
    func send(_ text: String, then: @escaping @Sendable ((any Error)?) -> Void)
    func receive(then: @escaping @Sendable (Result<SocketMessage, any Error>) -> Void)
    func ping(then: @escaping @Sendable ((any Error)?) -> Void)
    func close(code: UInt16, reason: String)
    /// Ends the connection without a closing handshake.
    func cancel()
    /// The peer's close frame; nil if there was none.
    var closeFrame: SocketClosed? { get }
}

/// A socket over a task with callbacks, which may come twice, late or never: every wait ends when its task is cancelled,
/// and no message is lost by that.
package final class CallbackSocket: Socket {
    private struct State {
        var closed: SocketClosed?
        var isOver = false
        var closing: [Reply<Void>] = []
        /// The messages that came after the task that waited for them was cancelled.
        var inbox: [Result<SocketMessage, any Error>] = []
        var receiver: Reply<SocketMessage>?
        /// Whether a message has been asked for and not come yet.
        var isReceiving = false
    }

    /// The time that a closing handshake may take.
    static let closingTime = Duration.seconds(5)

    private let task: any CallbackTask
    private let opening = Reply<Void>()
    private let state = Locked(State())

    package init(_ task: any CallbackTask) { self.task = task }

    /// Starts the handshake, and waits until the server has answered it.
    ///
    /// - Throws: ``SocketRefused``, the network's error, `CancellationError`.
    package func open() async throws {
        task.start()
        do {
            try await opening.value()
        } catch {
            task.cancel()
            throw error
        }
    }

    // MARK: Socket

    package func send(_ text: String) async throws {
        try await result { reply in task.send(text) { reply.deliver($0) } }
    }

    package func ping() async throws {
        try await result { reply in task.ping { reply.deliver($0) } }
    }

    private func result(_ start: (Reply<Void>) -> Void) async throws {
        let reply = Reply<Void>()
        start(reply)
        do { try await reply.value() } catch { throw ending(error) }
    }

    package func receive() async throws -> SocketMessage {
        let reply = Reply<SocketMessage>()
        let (message, isFirst) = state.use { state -> (Result<SocketMessage, any Error>?, Bool) in
            if !state.inbox.isEmpty { return (state.inbox.removeFirst(), false) }
            state.receiver = reply
            defer { state.isReceiving = true }
            return (nil, !state.isReceiving)
        }
        if isFirst { task.receive { [self] result in received(result) } }
        do {
            if let message { return try message.get() }
            return try await reply.value()
        } catch {
            throw ending(error)
        }
    }

    private func received(_ result: Result<SocketMessage, any Error>) {
        state.use { state in
            state.isReceiving = false
            // The receiving task may have been cancelled: the next one gets the message.
            if state.receiver?.deliver(result) != true { state.inbox.append(result) }
            state.receiver = nil
        }
    }

    package func close(code: UInt16, reason: String) async {
        let reply = Reply<Void>()
        let isOver = state.use { state in
            if !state.isOver { state.closing.append(reply) }
            return state.isOver
        }
        guard !isOver else { return }
        task.close(code: code, reason: reason)
        // A peer that is gone does not answer the closing handshake.
        let deadline = Task {
            try await Task.sleep(for: Self.closingTime)
            task.cancel()
            reply.deliver(nil)
        }
        defer { deadline.cancel() }
        try? await reply.value()
    }

    /// Returns the server's close frame, if there was one: it says more than the error that followed from it.
    private func ending(_ error: any Error) -> any Error {
        if error is CancellationError { return error }
        return state.use(\.closed) ?? task.closeFrame ?? SocketClosed(code: 1006)
    }

    // MARK: What the platform reports

    /// Called when the server has answered 101.
    package func didOpen() { opening.deliver(nil) }

    /// Called when the peer has sent a close frame.
    package func didClose(_ closed: SocketClosed) { state.use { $0.closed = closed } }

    /// Called when the connection has ended, for whatever reason.
    package func didEnd(_ error: any Error) {
        opening.deliver(.failure(error))
        let waiting = state.use { state in
            state.isOver = true
            defer { state.closing = [] }
            return state.closing
        }
        for reply in waiting { reply.deliver(nil) }
    }
}
