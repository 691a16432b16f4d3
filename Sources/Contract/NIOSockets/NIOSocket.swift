import ContractClient
import NIOCore

/// The sendable interface of a ``ClientSocketHandler``: every call runs on the socket's event loop.
struct NIOSocket: Socket {
    private let eventLoop: any EventLoop
    private let handler: NIOLoopBound<ClientSocketHandler>

    init(_ handler: ClientSocketHandler, on eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
        self.handler = NIOLoopBound(handler, eventLoop: eventLoop)
    }

    func send(_ text: String) async throws {
        try await eventLoop.flatSubmit { handler.value.send(text) }.get()
    }

    func receive() async throws -> SocketMessage {
        try await wait { handler, promise in handler.receive(promise) }
    }

    func ping() async throws {
        try await wait { handler, promise in handler.ping(promise) }
    }

    func close(code: UInt16, reason: String) async {
        // This only fails when the event loop has been shut down, and the connection with it.
        try? await eventLoop.flatSubmit { handler.value.close(code, reason: reason) }.get()
    }

    /// Waits for a promise that the handler fulfils, or for the task to be cancelled.
    private func wait<Value: Sendable>(
        _ start: @escaping @Sendable (ClientSocketHandler, EventLoopPromise<Value>) -> Void
    ) async throws -> Value {
        let promise = eventLoop.makePromise(of: Value.self)
        let isCancelled = NIOLoopBoundBox.makeBoxSendingValue(false, as: Bool.self, eventLoop: eventLoop)
        return try await withTaskCancellationHandler {
            eventLoop.execute {
                // A message that is passed to a promise without a waiting task would be lost.
                if !isCancelled.value { start(handler.value, promise) }
            }
            return try await promise.futureResult.get()
        } onCancel: {
            eventLoop.execute {
                isCancelled.value = true
                handler.value.forget(promise.futureResult)
                promise.fail(CancellationError())
            }
        }
    }
}
