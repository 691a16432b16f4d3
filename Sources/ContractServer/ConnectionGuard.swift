import HTTPTypes
public import NIOCore
import NIOHTTP1
public import NIOHTTPTypes

/// Keeps the deadlines of an HTTP/1 connection, answers malformed requests, and ends connections so that the client
/// reads the last answer.
///
/// One of `HTTP1Channel.Configuration.additionalChannelHandlers`, after a `SocketUpgrade` if there is one: it leaves
/// when `HTTPServerUpgradeEvents.upgradeComplete` passes. It replaces `HTTP1Channel.Configuration.idleTimeout`, which
/// counts no half-sent head.
public final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    public typealias InboundIn = HTTPRequestPart
    public typealias InboundOut = HTTPRequestPart
    public typealias OutboundIn = HTTPResponsePart
    public typealias OutboundOut = HTTPResponsePart

    /// How long a client may take. A connection that takes longer is closed without an answer.
    public struct Limits: Sendable {
        /// From the connection's opening, or the first byte of a further request, until the head is complete.
        public var header: TimeAmount = .seconds(10)
        /// Between an answer and the first byte of the next request.
        public var keepAlive: TimeAmount = .seconds(75)
        /// Without a byte while a request is half sent. Only time in which the server wants to read counts.
        public var bodyProgress: TimeAmount = .seconds(30)
        /// From the end of a request's head to its last byte.
        public var request: TimeAmount = .seconds(600)
        /// Without the client taking what is written: 32 KiB of it, once 64 KiB have piled up, or all of a last answer.
        public var answerProgress: TimeAmount = .seconds(60)
        /// After the server's last byte, until the client closes; what it sends meanwhile is thrown away.
        public var lingering: TimeAmount = .seconds(5)

        public init() {}
    }

    private enum Phase {
        /// Before a head; `begun` once a byte of it has come. The opening of the connection counts as such.
        case head(begun: Bool)
        /// Between a head and the end of its request.
        case body
        /// The last answer is on its way; input is thrown away.
        case discarding
        /// It has gone, and the output is closed.
        case lingering
    }

    private let limits: Limits
    private let malformed: @Sendable (_ requestID: String) -> ByteBuffer
    /// Of the request that is being read, once there is a head.
    private var headers: HTTPFields = [:]
    private var phase = Phase.head(begun: true)
    /// When the phase began or, in a body, since when the client has been waited for.
    private var since = NIODeadline.now()
    private var headEnd = NIODeadline.now()
    private var timer: (task: NIOScheduledCallback, at: NIODeadline)?
    private var context: ChannelHandlerContext?

    private var hasReadPart = false
    private var isReadPending = false
    private var blockedSince: NIODeadline?
    /// Requests whose answer has not ended.
    private var unanswered = 0
    private var hasAnswerBegun = false
    /// The answer being written is the last.
    private var isLastAnswer = false
    /// NIO's decoder stops for good after a request for an upgrade: that request is the last.
    private var isLastRequest = false
    private var parserError: HTTPParserError?
    /// The last answer is out; what is still written behind this handler comes too late.
    private var isMuted = false

    /// - Parameters:
    ///   - malformed: The JSON body of the 400 that answers what is not HTTP. Given the request's id, which the answer has
    ///     as `X-Request-Id` too: the client's own where a head has been read, else a new one.
    public init(limits: Limits = Limits(), malformed: @escaping @Sendable (_ requestID: String) -> ByteBuffer) {
        self.limits = limits
        self.malformed = malformed
    }

    // MARK: Requests

    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        hasReadPart = true
        switch (phase, unwrapInboundIn(data)) {
        case (.discarding, _), (.lingering, _):
            return
        case (_, .head(var request)):
            phase = .body
            unanswered += 1
            headers = request.headerFields
            headEnd = context.eventLoop.now
            since = headEnd
            if request.headerFields.contains(.upgrade) || request.method == .connect {
                isLastRequest = true
                request.headerFields[.connection] = "close"
                return context.fireChannelRead(wrapInboundOut(.head(request)))
            }
        case (_, .body):
            break
        case (_, .end):
            headers = [:]
            phase = .head(begun: false)
            since = context.eventLoop.now
        }
        context.fireChannelRead(data)
    }

    public func channelReadComplete(context: ChannelHandlerContext) {
        isReadPending = false
        switch phase {
        case .head(begun: false) where !hasReadPart:
            phase = .head(begun: true)
            since = context.eventLoop.now
        case .head, .body:
            break
        case .discarding, .lingering:
            // Whoever sits behind may have stopped reading.
            context.read()
        }
        hasReadPart = false
        setTimer(context)
        context.fireChannelReadComplete()
    }

    public func read(context: ChannelHandlerContext) {
        if !isReadPending {
            isReadPending = true
            if case .body = phase {
                since = context.eventLoop.now
                setTimer(context)
            }
        }
        context.read()
    }

    public func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch (phase, error) {
        case (.discarding, _), (.lingering, _):
            break
        case (_, let error as HTTPParserError):
            parserError = parserError ?? error
            answerMalformed(context)
        // The decoder's complaint about bytes behind its first error.
        case (_, is ByteToMessageDecoderError) where parserError != nil:
            break
        default:
            context.fireErrorCaught(error)
        }
    }

    // MARK: Answers

    public func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if isMuted {
            promise?.succeed()
            return
        }
        switch unwrapOutboundIn(data) {
        case .head(var response) where response.status.kind != .informational:
            hasAnswerBegun = true
            if isLastRequest, unanswered == 1 { response.headerFields[.connection] = "close" }
            isLastAnswer = response.headerFields[.connection]?.lowercased() == "close"
            context.write(wrapOutboundOut(.head(response)), promise: promise)
        case .end:
            unanswered -= 1
            hasAnswerBegun = false
            context.write(data, promise: promise)
            if isLastAnswer {
                finish(context)
            } else {
                if case .head = phase { since = context.eventLoop.now }
                setTimer(context)
                if parserError != nil { answerMalformed(context) }
            }
        default:
            context.write(data, promise: promise)
        }
    }

    public func channelWritabilityChanged(context: ChannelHandlerContext) {
        blockedSince = context.channel.isWritable ? nil : context.eventLoop.now
        setTimer(context)
        context.fireChannelWritabilityChanged()
    }

    /// Writes the 400, once it is the malformed request's turn.
    private func answerMalformed(_ context: ChannelHandlerContext) {
        let earlier: Int
        if case .body = phase { earlier = unanswered - 1 } else { earlier = unanswered }
        guard earlier == 0 else { return }
        if !hasAnswerBegun {
            let id = RequestID.make(for: headers)
            let body = malformed(id)
            let response = HTTPResponse(
                status: .badRequest,
                headerFields: [
                    .contentType: "application/json", .contentLength: String(body.readableBytes), .requestID: id,
                    .connection: "close",
                ])
            context.write(wrapOutboundOut(.head(response)), promise: nil)
            context.write(wrapOutboundOut(.body(body)), promise: nil)
            context.write(wrapOutboundOut(.end(nil)), promise: nil)
        }
        // An answer that has begun ends here, cut short.
        let wasInBody = unanswered > 0
        finish(context)
        if wasInBody, let parserError { context.fireErrorCaught(parserError) }
    }

    // MARK: The end

    /// Closes the output behind the last answer. To close at once would make the kernel answer the client's further
    /// bytes with a reset, which can destroy the answer before it is read (RFC 9112 §9.6).
    private func finish(_ context: ChannelHandlerContext) {
        phase = .discarding
        since = context.eventLoop.now
        isMuted = true
        setTimer(context)
        context.flush()
        close(context: context, mode: .output, promise: nil)
        context.read()
    }

    public func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode == .output else { return context.close(mode: mode, promise: promise) }
        let closed = promise ?? context.eventLoop.makePromise()
        closed.futureResult.assumeIsolated().whenSuccess { [self] in
            phase = .lingering
            since = context.eventLoop.now
            setTimer(context)
            context.read()
        }
        context.close(mode: .output, promise: closed)
    }

    public func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch (phase, event) {
        case (.discarding, ChannelEvent.inputClosed), (.lingering, ChannelEvent.inputClosed):
            context.close(promise: nil)
        case (_, is HTTPServerUpgradeEvents):
            context.fireUserInboundEventTriggered(event)
            context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }
}

// MARK: - The timer

extension ConnectionGuard: NIOScheduledCallbackHandler {
    public func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive { start(context) }
    }

    public func channelActive(context: ChannelHandlerContext) {
        start(context)
        context.fireChannelActive()
    }

    public func handlerRemoved(context: ChannelHandlerContext) {
        timer?.task.cancel()
        timer = nil
        self.context = nil
    }

    private func start(_ context: ChannelHandlerContext) {
        since = context.eventLoop.now
        setTimer(context)
    }

    private var deadline: NIODeadline {
        let blocked = blockedSince.map { $0 + limits.answerProgress } ?? .distantFuture
        switch phase {
        case .head where unanswered > 0: return blocked
        case .head(begun: true): return since + limits.header
        case .head(begun: false): return since + limits.keepAlive
        case .body where isReadPending: return min(since + limits.bodyProgress, headEnd + limits.request, blocked)
        case .body: return min(headEnd + limits.request, blocked)
        case .discarding: return since + limits.answerProgress
        case .lingering: return since + limits.lingering
        }
    }

    /// Makes sure that the timer fires no later than the deadline. A deadline that has moved away is found out when the
    /// timer fires, so that neither requests nor chunks reschedule it.
    private func setTimer(_ context: ChannelHandlerContext) {
        let deadline = deadline
        guard deadline < timer?.at ?? .distantFuture else { return }
        timer?.task.cancel()
        timer = (try? context.eventLoop.assumeIsolated().scheduleCallback(at: deadline, handler: self))
            .map { ($0, deadline) }
    }

    public func handleScheduledCallback(eventLoop: some EventLoop) {
        timer = nil
        guard let context else { return }
        if eventLoop.now >= deadline {
            context.close(promise: nil)
        } else {
            setTimer(context)
        }
    }
}
