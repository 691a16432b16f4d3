import EventLoops
import HTTPTypes
public import NIOCore

/// Speaks HTTP/1 on a connection: it parses requests and passes on one at a time, enforces the connection's deadlines,
/// answers malformed requests, encodes answers, and closes the connection in a way that lets the client read the last one.
///
/// A request that is pipelined behind another waits as bytes until that one's answer has been handed to the network and it is
/// the connection's turn among those of its event loop (`LoopQueue`); meanwhile nothing more is read. A client that reads
/// nothing therefore has one answer in memory, however many requests it sends, and one that pipelines them delays no other.
public final class ConnectionGuard: ChannelInboundHandler, RemovableChannelHandler {
    public typealias InboundIn = ByteBuffer
    public typealias InboundOut = ByteBuffer
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
    let upgrade: ConnectionUpgrade?
    let refused: @Sendable (ConnectionRefusal, _ requestID: String) -> ByteBuffer
    /// The receiver of the requests; set before the guard is added to its channel.
    var requests: (any RequestReceiver)?

    var parser = RequestParser()
    var phase = Phase.head(begun: true)
    /// The time at which the phase began; in a body, the time since which the server has waited for the client.
    var since = NIODeadline.now()
    var headEnd = NIODeadline.now()
    var timer: (task: NIOScheduledCallback, at: NIODeadline)?
    /// The deadline that was put off because the event loop was busy.
    var excused: NIODeadline?
    var context: ChannelHandlerContext?

    var isReadPending = false
    /// The time since which output waits for the client to take it; nil while none waits.
    var blockedSince: NIODeadline?
    /// The number of bytes of answers that had not been sent when this was last checked.
    var unsentBytes = 0
    var exchange: Exchange?
    /// Whether further requests wait until it is the connection's turn.
    var awaitsTurn = false
    /// The queue of the connection's event loop; set when the handler is added to its channel.
    var queue: LoopQueue?
    /// The decision on an upgrade that is being made, and ends when this is called.
    var cancelDecision: (() -> Void)?
    var output = ResponseEncoder()
    /// The consequences of the output having been handed to the network.
    var completion = Completion()
    /// The number of writes that the channel has and the kernel has not accepted.
    var writes = 0
    /// The way past the channel, where it sends the bytes as they are.
    var direct: DirectSend?
    private let sendsDirectly: Bool
    private var isReadWithheld = false
    /// Whether the client sends nothing more.
    var isInputOver = false
    /// Whether the server is stopping: the answer to the request that it handles is the last.
    var isQuiescing = false
    var refusal: RequestParser.Violation?
    /// The last answer is out; what is still written behind this handler comes too late.
    var isMuted = false

    /// Creates a handler.
    ///
    /// - Parameters:
    ///   - connections: The limit on the number of connections; nil for no limit.
    ///   - memory: The memory for requests and answers; nil for no limit.
    ///   - upgrade: What connections may change to; nil for nothing.
    ///   - sendsDirectly: Whether answers may go past the channel's pipeline. It must be false where a handler of it changes
    ///     what is sent, as TLS does.
    ///   - refused: Returns the JSON body of an answer that no route gave. It receives the request's id, which the
    ///     answer also has as `X-Request-Id`: the client's own id if a head was read, else a new one.
    public init(
        limits: Limits = Limits(), connections: ConnectionLimits? = nil, memory: RequestMemory? = nil,
        upgrade: ConnectionUpgrade? = nil, sendsDirectly: Bool = false,
        refused: @escaping @Sendable (ConnectionRefusal, _ requestID: String) -> ByteBuffer
    ) {
        self.limits = limits
        self.connections = connections
        self.memory = memory
        self.upgrade = upgrade
        self.sendsDirectly = sendsDirectly
        self.refused = refused
    }

    /// Prepares the connection, when the handler is added to its channel.
    func prepare(_ context: ChannelHandlerContext) {
        self.context = context
        queue = LoopQueue.current(of: context.eventLoop)
        if sendsDirectly { direct = DirectSend(context.channel) }
        if context.channel.isActive { start(context) }
    }

    // MARK: Requests

    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        queue?.noteInput()
        switch phase {
        case .discarding, .lingering: break
        case .head, .body:
            parser.append(unwrapInboundIn(data))
            parse(context)
        }
    }

    /// Passes on what has been received, as far as it is its turn.
    func parse(_ context: ChannelHandlerContext) {
        do {
            while isExpecting {
                guard let event = try parser.next() else { return try noteIncomplete(context) }
                switch event {
                case .head(let head): begin(head, context)
                case .body(let bytes): receive(bytes)
                case .end: endRequest(context)
                }
            }
        } catch {
            refuse(error, context)
        }
    }

    /// Whether the next part of a request is wanted. The parts of a further request wait until it is their turn.
    private var isExpecting: Bool {
        switch phase {
        case .head: exchange == nil && !awaitsTurn && refusal == nil
        case .body: refusal == nil
        case .discarding, .lingering: false
        }
    }

    private func noteIncomplete(_ context: ChannelHandlerContext) throws(RequestParser.Violation) {
        if isInputOver, parser.isAmidRequest { throw RequestParser.Violation(.cutShort) }
        guard case .head(begun: false) = phase, parser.hasBytes else { return }
        phase = .head(begun: true)
        since = context.eventLoop.now
        setTimer(context)
    }

    private func begin(_ head: RequestHead, _ context: ChannelHandlerContext) {
        var head = head
        if head.offersUpgrade {
            if decide(on: head, context) { return }
            // A server may ignore the offer.
            head = head.withoutUpgrade()
        }
        phase = .body
        headEnd = context.eventLoop.now
        since = headEnd
        exchange = Exchange(head, isDemanded: memory != nil)
        requests?.receive(head)
    }

    private func receive(_ bytes: ByteBuffer) {
        exchange?.awaitsContinue = false
        if let credit = exchange?.credit, credit != .max { exchange?.credit = credit - bytes.readableBytes }
        // Nothing reads the rest of a body behind the whole answer, and it must not gather in memory.
        if exchange?.isAnswered == false { requests?.receive(bytes) }
    }

    private func endRequest(_ context: ChannelHandlerContext) {
        phase = .head(begun: false)
        since = context.eventLoop.now
        exchange?.awaitsContinue = false
        requests?.receiveEnd()
    }

    public func channelReadComplete(context: ChannelHandlerContext) {
        isReadPending = false
        switch phase {
        case .head, .body: requests?.completeReading()
        case .discarding, .lingering: break
        }
        setTimer(context)
        context.fireChannelReadComplete()
    }

    // MARK: Reading

    /// Reads on when the channel would, unless what has been read must be handled first.
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
        case .head: !awaitsTurn && (exchange == nil || !parser.hasBytes)
        case .body: exchange.map { $0.isAnswered || $0.credit > 0 } ?? true
        }
    }

    func readWithheld(_ context: ChannelHandlerContext) {
        guard isReadWithheld, mayRead else { return }
        isReadWithheld = false
        read(context: context)
    }

    /// Reads more of a large body, which is not read until it is wanted. At the first demand the head has been accepted, and
    /// a client that waits gets a 100 (RFC 9110 §10.1.1).
    ///
    /// A request whose head is refused is therefore refused before its body arrives, and a server without room for a body
    /// does not read it.
    ///
    /// - Parameter isHeld: Whether what was read stays in memory.
    func demand(isHeld: Bool) {
        guard let context, case .body = phase, exchange?.isAnswered == false else { return }
        exchange?.credit = Exchange.credit
        exchange?.isHeld = isHeld
        if isHeld { setTimer(context) }
        if exchange?.awaitsContinue == true, exchange?.hasAnswerBegun == false {
            exchange?.awaitsContinue = false
            output.append(.continue, [:], isOld: false, to: context)
            flush()
        }
        readWithheld(context)
    }

    // MARK: Errors

    func refuse(_ violation: RequestParser.Violation, _ context: ChannelHandlerContext) {
        switch phase {
        case .discarding, .lingering: return
        case .head, .body: break
        }
        refusal = violation
        answerRefusal(context)
    }

    public func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch phase {
        case .discarding, .lingering: return
        case .head, .body: break
        }
        requests?.fail(error)
        context.close(promise: nil)
    }
}

extension ConnectionGuard: ChannelOutboundHandler {
    public typealias OutboundIn = Never
}

/// Handles the requests of a connection, one at a time, on its event loop.
protocol RequestReceiver: AnyObject {
    func receive(_ head: RequestHead)
    /// Receives a request without a body, whose offer to change to another protocol has been refused.
    func receive(_ head: RequestHead, refused refusal: ConnectionUpgrade.Refusal)
    /// Receives a piece of the request's body.
    func receive(_ bytes: ByteBuffer)
    /// Notes that the whole body has been received.
    func receiveEnd()
    /// Notes that all has been passed on that was read at once.
    func completeReading()
    /// Ends the body of the request, which is incomplete.
    func fail(_ error: any Error)
    /// Notes that the client takes more of its answer.
    func resume()
    /// Notes that the connection is closed, or is no longer HTTP.
    func end()
}
