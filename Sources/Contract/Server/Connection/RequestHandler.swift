import HTTPTypes
import Hummingbird
import NIOCore

/// Starts a task for each request of a connection, on the connection's event loop, and writes its answer.
///
/// ``ConnectionGuard`` passes on one request at a time. A request that has been received as a whole begins with its body at
/// hand. Another one reads its body as it arrives.
final class RequestHandler: RequestReceiver {
    private let server: HTTPServer.Responder
    private let executor: LoopExecutors.Executor
    /// Completed when the connection is closed, or is no longer HTTP.
    private let ended: EventLoopPromise<Void>
    private let channel: any Channel
    private let peer: Peer
    private unowned let connection: ConnectionGuard

    /// The request whose task has not begun, as far as it has been received.
    private var received: (head: RequestHead, body: ByteBuffer?)?
    /// Whether all of it has been received.
    private var isComplete = false
    /// The rest of the body of the request that is handled.
    private var rest: BodyStream?
    private var task: Task<Void, Never>?
    /// A task that waits until the client has taken more of its answer.
    private var waiting: CheckedContinuation<Void, any Error>?

    init(
        _ server: @escaping HTTPServer.Responder, _ executor: LoopExecutors.Executor, on connection: ConnectionGuard,
        of channel: any Channel, ended: EventLoopPromise<Void>
    ) {
        self.server = server
        self.executor = executor
        self.connection = connection
        self.channel = channel
        self.ended = ended
        peer = Peer(channel.remoteAddress?.ipAddress)
    }

    // MARK: Requests

    func receive(_ head: RequestHead) { (received, rest, isComplete) = ((head, nil), nil, false) }

    func receive(_ head: RequestHead, refused refusal: ConnectionUpgrade.Refusal) {
        (received, rest) = (nil, nil)
        start(ReceivedRequest(head: head, body: .whole(ByteBuffer()), refusal: refusal))
    }

    func receive(_ bytes: ByteBuffer) {
        guard let before = received else { return rest?.append(bytes) ?? () }
        var body = before.body
        received?.body = nil
        if body?.writeImmutableBuffer(bytes) == nil { body = bytes }
        received?.body = body
    }

    func receiveEnd() {
        isComplete = true
        rest?.finish()
        begin()
    }

    func completeReading() { begin() }

    private func begin() {
        guard let (head, bytes) = received.take() else { return }
        let body: ReceivedRequest.Body
        if isComplete {
            body = .whole(bytes ?? ByteBuffer())
        } else {
            let stream = BodyStream()
            if let bytes { stream.append(bytes) }
            rest = stream
            body = .pieces(RequestBody(asyncSequence: stream))
        }
        start(ReceivedRequest(head: head, body: body))
    }

    private func start(_ request: ReceivedRequest) {
        let reference = ConnectionReference(self, connection, channel)
        let call = HTTPServer.Call(request: request, peer: peer, connection: reference)
        task = executor.start { [server] in
            do {
                try await reference.send(try await server(call), to: request.head.method)
            } catch {
                // The connection ends, so that no client takes the part of an answer for the whole.
                reference.onLoop { $0.channel.close(promise: nil) }
            }
        }
    }

    // MARK: Answers

    /// Writes an answer whose body is there.
    fileprivate func write(_ reply: Reply, _ body: ByteBuffer) throws {
        _ = try connection.hasRoom()
        connection.write(reply.status, reply.headers, body: body.readableBytes)
        connection.write(body)
        connection.writeEnd()
        connection.flush()
    }

    /// Writes a part of an answer.
    ///
    /// - Returns: Whether there is room for more.
    fileprivate func write(flushing: Bool = true, _ part: (ConnectionGuard) -> Void) throws -> Bool {
        _ = try connection.hasRoom()
        part(connection)
        if flushing { connection.flush() }
        return try connection.hasRoom()
    }

    /// Resumes a task when there is room for more of its answer.
    fileprivate func wait(_ continuation: CheckedContinuation<Void, any Error>) {
        do {
            if try connection.hasRoom() { continuation.resume() } else { waiting = continuation }
        } catch {
            continuation.resume(throwing: error)
        }
    }

    func resume() { waiting.take()?.resume() }

    /// Reads more of a large body.
    fileprivate func demand(isHeld: Bool) { connection.demand(isHeld: isHeld) }

    // MARK: The end

    func fail(_ error: any Error) { rest?.finish(throwing: error) }

    func end() {
        received = nil
        rest?.finish(throwing: BodyCutShort())
        waiting.take()?.resume(throwing: ChannelError.ioOnClosedChannel)
        ended.succeed()
    }

    /// Cancels the request that is handled, because the server may wait for it no longer.
    func cancel() {
        task?.cancel()
        rest?.finish(throwing: BodyCutShort())
        channel.close(mode: .input, promise: nil)
    }
}

/// The connection of a request, for its task, which may run anywhere.
struct ConnectionReference: Sendable {
    let channel: any Channel
    let eventLoop: any EventLoop
    private let handler: NIOLoopBound<RequestHandler>
    /// Keeps the connection while its request is handled.
    private let connection: NIOLoopBound<ConnectionGuard>

    fileprivate init(_ handler: RequestHandler, _ connection: ConnectionGuard, _ channel: any Channel) {
        self.channel = channel
        eventLoop = channel.eventLoop
        self.handler = NIOLoopBound(handler, eventLoop: eventLoop)
        self.connection = NIOLoopBound(connection, eventLoop: eventLoop)
    }

    /// Runs a closure on the event loop.
    fileprivate func onLoop(_ body: @escaping @Sendable (RequestHandler) -> Void) {
        if eventLoop.inEventLoop { return body(handler.value) }
        eventLoop.execute { body(handler.value) }
    }

    /// Reads more of the request's body (``ConnectionGuard/demand(isHeld:)``).
    func demand(isHeld: Bool) { onLoop { $0.demand(isHeld: isHeld) } }

    fileprivate func send(_ reply: Reply, to method: HTTPRequest.Method) async throws {
        switch reply.content {
        case .bytes(let bytes):
            if eventLoop.inEventLoop { return try handler.value.write(reply, bytes) }
            onLoop { try? $0.write(reply, bytes) }
        case .streamed(let body):
            try await write(flushing: false) { $0.write(reply.status, reply.headers) }
            try await body.write(Writer(connection: self, left: method == .head ? nil : body.contentLength))
        }
    }

    /// Writes a part, and returns when there is room for more.
    fileprivate func write(flushing: Bool = true, _ part: @escaping @Sendable (ConnectionGuard) -> Void) async throws {
        if eventLoop.inEventLoop, try handler.value.write(flushing: flushing, part) { return }
        try await withCheckedThrowingContinuation { continuation in
            let isWritten = eventLoop.inEventLoop
            onLoop { handler in
                do {
                    if !isWritten { _ = try handler.write(flushing: flushing, part) }
                    handler.wait(continuation)
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
    }

    /// Writes the pieces of a body as they are made.
    private struct Writer: ResponseBodyWriter {
        let connection: ConnectionReference
        /// The number of bytes that are missing, if it is known.
        var left: Int?

        mutating func write(_ buffer: ByteBuffer) async throws {
            left = left.map { $0 - buffer.readableBytes }
            // What completes the body is sent together with its end.
            try await connection.write(flushing: left != 0) { $0.write(buffer) }
        }

        consuming func finish(_ trailers: HTTPFields?) async throws {
            let end: @Sendable (RequestHandler) throws -> Void = { _ = try $0.write { $0.writeEnd(trailers) } }
            if connection.eventLoop.inEventLoop {
                try end(connection.handler.value)
            } else {
                connection.onLoop { try? end($0) }
            }
        }
    }
}
