import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Starts a task for each request of a connection, on the connection's event loop, and writes its answer.
///
/// It is the last handler of the pipeline, behind ``ConnectionGuard``, which passes on one request at a time. A request
/// that has been received as a whole begins with its body at hand. Another one reads its body as it arrives.
final class RequestHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundOut = HTTPResponsePart

    private let server: HTTPServer.Responder
    private let executors: LoopExecutors
    /// Completed when the connection is closed, or is no longer HTTP.
    private let ended: EventLoopPromise<Void>
    private var context: ChannelHandlerContext?
    private var peer: Peer?

    /// The request whose task has not begun, as far as it has been received.
    private var received: (head: HTTPRequest, body: ByteBuffer?)?
    /// Whether all of it has been received.
    private var isComplete = false
    /// The rest of the body of the request that is handled.
    private var rest: BodyStream?
    private var task: Task<Void, Never>?
    /// Whether an answer is being written, behind which ``ConnectionGuard`` may pass on the next request at once.
    private var isWriting = false
    /// A task that waits until the client has taken more of its answer.
    private var waiting: CheckedContinuation<Void, any Error>?

    init(_ server: @escaping HTTPServer.Responder, _ executors: LoopExecutors, ended: EventLoopPromise<Void>) {
        self.server = server
        self.executors = executors
        self.ended = ended
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        end()
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            (received, rest, isComplete) = ((head, nil), nil, false)
        case .body(let bytes):
            guard let before = received else { return rest?.append(bytes) ?? () }
            var body = before.body
            received?.body = nil
            if body?.writeImmutableBuffer(bytes) == nil { body = bytes }
            received?.body = body
        case .end:
            isComplete = true
            rest?.finish()
            begin(context)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        begin(context)
        context.fireChannelReadComplete()
    }

    private func begin(_ context: ChannelHandlerContext) {
        // A client that sends many requests at once must not make as many calls within each other.
        guard !isWriting, let (head, bytes) = received else { return }
        received = nil
        let body: RequestBody
        if isComplete {
            body = RequestBody(buffer: bytes ?? ByteBuffer())
        } else {
            let stream = BodyStream()
            if let bytes { stream.append(bytes) }
            rest = stream
            body = RequestBody(asyncSequence: stream)
        }
        let peer = self.peer ?? Peer(context.channel.remoteAddress?.ipAddress)
        self.peer = peer
        let (request, eventLoop) = (Request(head: head, body: body), context.eventLoop)
        let call = HTTPServer.Call(request: request, peer: peer, channel: context.channel)
        let answer = Answer(handler: NIOLoopBound(self, eventLoop: eventLoop), eventLoop: eventLoop)
        task = executors.start(on: eventLoop) { [server] in
            do {
                try await answer.send(try await server(call), to: request)
            } catch {
                // The connection ends, so that no client takes the part of an answer for the whole.
                answer.onLoop { $0.context?.close(promise: nil) }
            }
        }
    }

    // MARK: Answers

    /// Writes parts of an answer, and flushes them.
    ///
    /// - Returns: Whether there is room for more.
    fileprivate func write(_ parts: HTTPResponsePart..., flushing: Bool = true) throws -> Bool {
        guard let context, context.channel.isActive else { throw ChannelError.ioOnClosedChannel }
        isWriting = true
        for part in parts { context.write(wrapOutboundOut(part), promise: nil) }
        if flushing { context.flush() }
        isWriting = false
        if received != nil {
            let this = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            context.eventLoop.execute {
                let (handler, context) = this.value
                handler.begin(context)
            }
        }
        return context.channel.isWritable
    }

    /// Resumes a task when there is room for more of its answer.
    fileprivate func wait(_ continuation: CheckedContinuation<Void, any Error>) {
        guard let context, context.channel.isActive else {
            return continuation.resume(throwing: ChannelError.ioOnClosedChannel)
        }
        if context.channel.isWritable { continuation.resume() } else { waiting = continuation }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { waiting.take()?.resume() }
        context.fireChannelWritabilityChanged()
    }

    // MARK: The end

    func errorCaught(context: ChannelHandlerContext, error: any Error) { rest?.finish(throwing: error) }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is HTTPServerUpgradeEvents {
            context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        }
        context.fireUserInboundEventTriggered(event)
    }

    private func end() {
        received = nil
        rest?.finish(throwing: BodyCutShort())
        waiting.take()?.resume(throwing: ChannelError.ioOnClosedChannel)
        ended.succeed()
    }

    /// Cancels the request that is handled, because the server may wait for it no longer.
    func cancel() {
        task?.cancel()
        rest?.finish(throwing: BodyCutShort())
        context?.channel.close(mode: .input, promise: nil)
    }
}

/// Writes the answer of one request from its task.
private struct Answer: Sendable {
    let handler: NIOLoopBound<RequestHandler>
    let eventLoop: any EventLoop

    func send(_ reply: Reply, to request: Request) async throws {
        var fields = reply.headers
        fields[.date] = DateField.now
        let head = HTTPResponse(status: reply.status, headerFields: fields)
        switch reply.content {
        case .bytes(let bytes):
            if eventLoop.inEventLoop {
                _ = try handler.value.write(.head(head), .body(bytes), .end(nil))
            } else {
                onLoop { _ = try? $0.write(.head(head), .body(bytes), .end(nil)) }
            }
        case .streamed(let body):
            try await write(.head(head), flushing: false)
            try await body.write(Writer(answer: self, left: request.method == .head ? nil : body.contentLength))
        }
    }

    /// Runs a closure on the event loop.
    func onLoop(_ body: @escaping @Sendable (RequestHandler) -> Void) {
        if eventLoop.inEventLoop { return body(handler.value) }
        eventLoop.execute { body(handler.value) }
    }

    /// Writes a part, and returns when there is room for more.
    func write(_ part: HTTPResponsePart, flushing: Bool = true) async throws {
        if eventLoop.inEventLoop, try handler.value.write(part, flushing: flushing) { return }
        try await withCheckedThrowingContinuation { continuation in
            let isWritten = eventLoop.inEventLoop
            onLoop { handler in
                do {
                    if !isWritten { _ = try handler.write(part, flushing: flushing) }
                    handler.wait(continuation)
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
    }

    /// Writes the pieces of a body as they are made.
    struct Writer: ResponseBodyWriter {
        let answer: Answer
        /// The number of bytes that are missing, if it is known.
        var left: Int?

        mutating func write(_ buffer: ByteBuffer) async throws {
            left = left.map { $0 - buffer.readableBytes }
            // What completes the body is sent together with its end.
            try await answer.write(.body(buffer), flushing: left != 0)
        }

        consuming func finish(_ trailers: HTTPFields?) async throws {
            if answer.eventLoop.inEventLoop {
                _ = try answer.handler.value.write(.end(trailers))
            } else {
                answer.onLoop { _ = try? $0.write(.end(trailers)) }
            }
        }
    }
}
