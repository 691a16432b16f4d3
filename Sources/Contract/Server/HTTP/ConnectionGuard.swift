import HTTPTypes
public import NIOCore
import NIOHTTP1
public import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// Keeps the deadlines of an HTTP/1 connection, hands on one request at a time, answers malformed requests, and ends
/// connections so that the client reads the last answer.
///
/// One of `HTTP1Channel.Configuration.additionalChannelHandlers`, after a `SocketUpgrade` if there is one: it leaves
/// when `HTTPServerUpgradeEvents.upgradeComplete` passes. It replaces `HTTP1Channel.Configuration.idleTimeout`, which
/// counts no half-sent head.
///
/// A request that is pipelined behind another waits until that one's answer has been handed to the network; meanwhile
/// nothing more is read. So a client that reads nothing has one answer in memory, however much it asks for.
public final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    public typealias InboundIn = HTTPRequestPart
    public typealias InboundOut = HTTPRequestPart
    public typealias OutboundIn = HTTPResponsePart
    public typealias OutboundOut = HTTPResponsePart

    enum Phase {
        /// Before a head; `begun` once a byte of it has come. The opening of the connection counts as such.
        case head(begun: Bool)
        /// Between a head and the end of its request.
        case body
        /// The last answer is on its way; input is thrown away.
        case discarding
        /// It has gone, and the output is closed.
        case lingering
    }

    let limits: Limits
    let connections: ConnectionLimits?
    let memory: RequestMemory?
    let refused: @Sendable (ConnectionRefusal, _ requestID: String) -> ByteBuffer
    /// Of the request that is being read, once there is a head.
    var headers: HTTPFields = [:]
    var phase = Phase.head(begun: true)
    /// When the phase began or, in a body, since when the client has been waited for.
    var since = NIODeadline.now()
    var headEnd = NIODeadline.now()
    var timer: (task: NIOScheduledCallback, at: NIODeadline)?
    var context: ChannelHandlerContext?

    private var hasReadPart = false
    var isReadPending = false
    /// Since when the client has been waited for to take what is written; nil while nothing waits for it.
    var blockedSince: NIODeadline?
    /// How much of the answers had not gone to the network when that was last looked at.
    var unsentBytes = 0
    /// Requests whose answer has not ended, those included that wait.
    private(set) var unanswered = 0
    var exchange: Exchange?
    /// What was read behind the request that is with the server.
    var waiting = CircularBuffer<HTTPRequestPart>()
    private var isReadWithheld = false
    var isEndWithheld = false
    var hasAnswerBegun = false
    /// The answer being written is the last.
    private var isLastAnswer = false
    /// NIO's decoder stops for good after a request for an upgrade: that request is the last.
    private var isLastRequest = false
    var refusal: (reason: ConnectionRefusal, error: any Error, requestID: String?)?
    /// The last answer is out; what is still written behind this handler comes too late.
    var isMuted = false

    /// - Parameters:
    ///   - connections: How many there may be; nil for any number.
    ///   - memory: What requests and answers may take; nil for any amount.
    ///   - refused: The JSON body of an answer that no route gave. Given the request's id, which the answer has
    ///     as `X-Request-Id` too: the client's own where a head has been read, else a new one.
    public init(
        limits: Limits = Limits(), connections: ConnectionLimits? = nil, memory: RequestMemory? = nil,
        refused: @escaping @Sendable (ConnectionRefusal, _ requestID: String) -> ByteBuffer
    ) {
        self.limits = limits
        self.connections = connections
        self.memory = memory
        self.refused = refused
    }

    // MARK: Requests

    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        hasReadPart = true
        var part = unwrapInboundIn(data)
        switch (phase, part) {
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
                part = .head(request)
            }
            if exchange != nil { return waiting.append(part) }
        case (_, .body):
            break
        case (_, .end):
            headers = [:]
            phase = .head(begun: false)
            since = context.eventLoop.now
        }
        waiting.isEmpty ? pass(part, context) : waiting.append(part)
    }

    private func pass(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) {
        switch part {
        case .head(let request):
            exchange = Exchange(request, isDemanded: memory != nil)
        case .body(let bytes):
            exchange?.awaitsContinue = false
            if let credit = exchange?.credit, credit != .max { exchange?.credit = credit - bytes.readableBytes }
        case .end:
            exchange?.awaitsContinue = false
        }
        context.fireChannelRead(wrapInboundOut(part))
    }

    /// Hands on the next request, as far as it has been read.
    private func passWaiting(_ context: ChannelHandlerContext) {
        guard exchange == nil else { return }
        var hasPassed = false
        while let part = waiting.first {
            if case .head = part, exchange != nil { break }
            pass(waiting.removeFirst(), context)
            hasPassed = true
        }
        if hasPassed { context.fireChannelReadComplete() }
        if waiting.isEmpty, isEndWithheld {
            isEndWithheld = false
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
        readWithheld(context)
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
            // What sits behind may have stopped reading.
            context.read()
        }
        hasReadPart = false
        setTimer(context)
        context.fireChannelReadComplete()
    }

    public func read(context: ChannelHandlerContext) {
        guard mayRead else {
            isReadWithheld = true
            return
        }
        if !isReadPending {
            isReadPending = true
            if case .body = phase {
                since = context.eventLoop.now
                setTimer(context)
            }
        }
        context.read()
    }

    private var mayRead: Bool {
        switch phase {
        case .discarding, .lingering: true
        case .head: waiting.isEmpty
        case .body: waiting.isEmpty && (exchange.map { $0.isAnswered || $0.credit > 0 } ?? true)
        }
    }

    private func readWithheld(_ context: ChannelHandlerContext) {
        guard isReadWithheld, mayRead else { return }
        isReadWithheld = false
        read(context: context)
    }

    /// The server asks for more of a body: the first time, it has found nothing to refuse the head for.
    public func triggerUserOutboundEvent(
        context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
    ) {
        guard let demand = event as? BodyDemand else {
            return context.triggerUserOutboundEvent(event, promise: promise)
        }
        promise?.succeed()
        guard case .body = phase, waiting.isEmpty, exchange?.isAnswered == false else { return }
        exchange?.credit = BodyDemand.credit
        exchange?.isHeld = demand.isHeld
        if demand.isHeld { setTimer(context) }
        if exchange?.awaitsContinue == true, !hasAnswerBegun {
            exchange?.awaitsContinue = false
            context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
        }
        readWithheld(context)
    }

    public func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let reason: ConnectionRefusal
        var id: String?
        switch (phase, error) {
        case (.discarding, _), (.lingering, _):
            return
        case (_, HTTPParserError.headerOverflow):
            reason = .headTooLarge
        case (_, HTTPParserError.invalidEOFState):
            reason = .cutShort
        case (_, is HTTPParserError), (_, is HTTP1TypeConversionError):
            reason = .malformed
        case (_, let violation as RequestRules.Violation):
            (reason, id) = (violation.refusal, violation.requestID)
        // The decoder's complaint about bytes behind its first error.
        case (_, is ByteToMessageDecoderError) where refusal != nil:
            return
        default:
            return context.fireErrorCaught(error)
        }
        refusal = refusal ?? (reason, error, id)
        answerRefusal(context)
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
            // A client that was not told to go on may send its body, or leave it out: the next request's begin is unknown.
            if exchange?.awaitsContinue == true { response.headerFields[.connection] = "close" }
            isLastAnswer = response.headerFields[.connection]?.lowercased() == "close"
            exchange?.hasLength = response.headerFields.contains(.contentLength)
            context.write(wrapOutboundOut(.head(response)), promise: promise)
        case .body(let bytes):
            if exchange?.isHead == true {
                promise?.succeed()
            } else {
                writeBody(bytes, data, promise, context)
            }
        case .end:
            unanswered -= 1
            hasAnswerBegun = false
            exchange?.isAnswered = true
            let written = promise ?? context.eventLoop.makePromise()
            written.futureResult.assumeIsolated().whenComplete { [self] _ in answerWasWritten() }
            if let exchange, exchange.isHead, !exchange.hasLength {
                // The encoder would end the body's chunks; a HEAD has none.
                context.flush()
                written.succeed()
            } else {
                context.write(data, promise: written)
            }
            if isLastAnswer {
                finish(context)
            } else {
                if case .head = phase { since = context.eventLoop.now }
                setTimer(context)
                if refusal != nil { answerRefusal(context) } else { readWithheld(context) }
            }
        default:
            context.write(data, promise: promise)
        }
    }

    /// Whether the request's body takes room for which others wait.
    var isInTheWay: Bool { exchange?.isHeld == true && memory?.bodies.isShort == true }
    var isHoldingBody: Bool { exchange?.isHeld == true }

    private func writeBody(
        _ bytes: ByteBuffer, _ data: NIOAny, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext
    ) {
        let size = bytes.readableBytes
        guard let answers = memory?.answers, size > MemoryBudget.small else {
            return context.write(data, promise: promise)
        }
        let written = promise ?? context.eventLoop.makePromise()
        answers.add(size)
        written.futureResult.whenComplete { _ in answers.remove(size) }
        context.write(data, promise: written)
    }

    private func answerWasWritten() {
        exchange = nil
        guard let context, context.channel.isActive else { return }
        if blockedSince != nil { noteUnsent(context) }
        passWaiting(context)
    }

    public func flush(context: ChannelHandlerContext) {
        context.flush()
        // What is left of an answer may be too little to make the channel unwritable, and yet keep the whole in memory.
        if exchange?.isAnswered == true, blockedSince == nil { noteUnsent(context) }
    }

    public func channelWritabilityChanged(context: ChannelHandlerContext) {
        noteUnsent(context)
        context.fireChannelWritabilityChanged()
    }

    /// Notes whether the client is waited for, and gives it its time anew.
    private func noteUnsent(_ context: ChannelHandlerContext) {
        let isBlocked = !context.channel.isWritable || exchange?.isAnswered == true
        blockedSince = isBlocked ? context.eventLoop.now : nil
        unsentBytes = isBlocked ? unsent(context) : 0
        setTimer(context)
    }
}
