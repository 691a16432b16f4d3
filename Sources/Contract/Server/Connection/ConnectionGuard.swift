import HTTPTypes
public import NIOCore
public import NIOHTTP1
public import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// Enforces the deadlines of an HTTP/1 connection, passes on one request at a time, answers malformed requests, encodes
/// answers, and closes connections in a way that lets the client read the last answer.
///
/// It is behind NIO's decoder, and behind a `SocketUpgrade` if there is one: it leaves when
/// `HTTPServerUpgradeEvents.upgradeComplete` passes.
///
/// A request that is pipelined behind another waits until that one's answer has been handed to the network; meanwhile
/// nothing more is read. A client that reads nothing therefore has one answer in memory, however many requests it
/// sends.
public final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    public typealias InboundIn = HTTPServerRequestPart
    public typealias InboundOut = HTTPRequestPart
    public typealias OutboundIn = HTTPResponsePart
    public typealias OutboundOut = ByteBuffer

    enum Phase {
        /// Waiting for a head; `begun` once its first byte has arrived. The opening of the connection counts as a first
        /// byte.
        case head(begun: Bool)
        /// In a request, after its head.
        case body
        /// The last answer is being written; input is discarded.
        case discarding
        /// The last answer has been written, and the output is closed.
        case lingering
    }

    let limits: Limits
    let connections: ConnectionLimits?
    let memory: RequestMemory?
    let refused: @Sendable (ConnectionRefusal, _ requestID: String) -> ByteBuffer
    /// The headers of the request that is being read, once its head is complete.
    var headers: HTTPFields = [:]
    var phase = Phase.head(begun: true)
    /// The time at which the phase began; in a body, the time since which the server has waited for the client.
    var since = NIODeadline.now()
    var headEnd = NIODeadline.now()
    var timer: (task: NIOScheduledCallback, at: NIODeadline)?
    /// The deadline that was put off because the event loop was busy.
    var excused: NIODeadline?
    var context: ChannelHandlerContext?

    private var hasReadPart = false
    /// Whether the client speaks HTTP/1.0, which has neither chunks nor persistent connections.
    var isOldClient = false
    var isReadPending = false
    /// The time since which output waits for the client to take it; nil while none waits.
    var blockedSince: NIODeadline?
    /// The number of bytes of answers that had not been sent when this was last checked.
    var unsentBytes = 0
    /// The number of requests without a complete answer, including waiting ones.
    var unanswered = 0
    var exchange: Exchange?
    var output = ResponseEncoder()
    /// The parts that were read behind the request that the server is handling.
    var waiting = CircularBuffer<HTTPRequestPart>()
    private var isReadWithheld = false
    var isEndWithheld = false
    /// Whether the client sends nothing more.
    var isInputOver = false
    /// Whether the server is stopping: the answer to the request that it handles is the last.
    var isQuiescing = false
    var hasAnswerBegun = false
    /// The answer being written is the last.
    var isLastAnswer = false
    var refusal: (reason: ConnectionRefusal, error: any Error, requestID: String?)?
    /// The last answer is out; what is still written behind this handler comes too late.
    var isMuted = false

    /// Creates a handler.
    ///
    /// - Parameters:
    ///   - connections: The limit on the number of connections; nil for no limit.
    ///   - memory: The memory for requests and answers; nil for no limit.
    ///   - refused: Returns the JSON body of an answer that no route gave. It receives the request's id, which the
    ///     answer also has as `X-Request-Id`: the client's own id if a head was read, else a new one.
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
        // The bytes that follow a refused head have no meaning.
        guard refusal == nil else { return }
        switch (phase, unwrapInboundIn(data)) {
        case (.discarding, _), (.lingering, _):
            return
        case (_, .head(let head)):
            do {
                receive(try RequestRules.request(head), isOld: head.version.isOld, context)
            } catch {
                errorCaught(context: context, error: error)
            }
        case (_, .body(let bytes)):
            forward(.body(bytes), context)
        case (_, .end(let trailers)):
            headers = [:]
            phase = .head(begun: false)
            since = context.eventLoop.now
            forward(.end(trailers.map { HTTPFields($0, splitCookie: false) }), context)
        }
    }

    private func receive(_ head: HTTPRequest, isOld: Bool, _ context: ChannelHandlerContext) {
        var request = head
        if isOld { isOldClient = true }
        phase = .body
        unanswered += 1
        headers = request.headerFields
        headEnd = context.eventLoop.now
        since = headEnd
        // NIO's decoder stops for good after a request for an upgrade.
        if request.headerFields.contains(.upgrade) || request.method == .connect {
            request.headerFields[.connection] = "close"
        }
        if exchange != nil {
            waiting.append(.head(request))
        } else {
            forward(.head(request), context)
        }
    }

    private func forward(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) {
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

    /// Passes on the next request, as far as it has been read.
    func passWaiting(_ context: ChannelHandlerContext) {
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
            // The handlers behind this one may have stopped reading.
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

    func readWithheld(_ context: ChannelHandlerContext) {
        guard isReadWithheld, mayRead else { return }
        isReadWithheld = false
        read(context: context)
    }

    /// Handles a demand for more of a body. At the first one, the head has been accepted.
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
            output.append(HTTPResponse(status: .continue), isOld: false, to: context)
            output.write(to: context)
            context.flush()
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
        // The decoder reports bytes after its first error as another error.
        case (_, is ByteToMessageDecoderError) where refusal != nil:
            return
        default:
            context.fireErrorCaught(error)
            return context.close(promise: nil)
        }
        refusal = refusal ?? (reason, error, id)
        answerRefusal(context)
    }
}
