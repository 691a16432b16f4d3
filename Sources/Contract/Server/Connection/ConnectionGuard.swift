import EventLoops
import HTTPTypes
public import NIOCore

/// Speaks HTTP/1 on a connection: it parses requests and passes on one at a time, enforces the connection's deadlines,
/// answers malformed requests, encodes answers, and closes the connection in a way that lets the client read the last one.
/// What it does when is decided by ``ConnectionState``.
///
/// A request that is pipelined behind another waits as bytes until that one's answer has been handed to the network and it is
/// the connection's turn among those of its event loop (`LoopQueue`); meanwhile nothing more is read. A client that reads
/// nothing therefore has one answer in memory, however many requests it sends, and one that pipelines them delays no other.
public final class ConnectionGuard: ChannelInboundHandler, RemovableChannelHandler {
    public typealias InboundIn = ByteBuffer
    public typealias InboundOut = ByteBuffer
    public typealias OutboundOut = ByteBuffer

    private let limits: Limits
    private let connections: ConnectionLimits?
    private let memory: RequestMemory?
    private let upgrade: ConnectionUpgrade?
    private let sendsDirectly: Bool
    private let refused: @Sendable (ConnectionRefusal, _ requestID: String) -> ByteBuffer
    /// The receiver of the requests; set before the guard is added to its channel.
    var requests: (any RequestReceiver)?

    private var state = ConnectionState(at: .now())
    private var parser = RequestParser()
    private var timer: Timer?
    /// The deadline that was put off because the event loop was busy.
    private var excused: NIODeadline?
    private var context: ChannelHandlerContext?
    /// The queue of the connection's event loop; set when the handler is added to its channel.
    private var queue: LoopQueue?
    /// Ends the decision on an upgrade that is being made.
    private var cancelDecision: (() -> Void)?
    private var output = ResponseEncoder()
    /// The consequences of the output having been handed to the network.
    private var completion = Completion()
    /// The number of writes that the channel has and the kernel has not accepted.
    private var writes = 0
    /// The way past the channel, where it sends the bytes as they are.
    private var direct: DirectSend?

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

    // MARK: The beginning

    public func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        queue = LoopQueue.current(of: context.eventLoop)
        if sendsDirectly { direct = DirectSend(context.channel) }
        if context.channel.isActive { start(context) }
    }

    public func channelActive(context: ChannelHandlerContext) {
        start(context)
        context.fireChannelActive()
    }

    private func start(_ context: ChannelHandlerContext) {
        state = ConnectionState(at: context.eventLoop.now)
        setTimer(context)
        guard let connections else { return }
        let address = context.channel.remoteAddress?.ipAddress
        let admission = connections.enter(address)
        context.channel.closeFuture.whenComplete { _ in connections.leave(address, admission) }
        switch admission {
        case .admitted: break
        case .refused: refuse(RequestParser.Violation(.tooManyConnections), context)
        case .dropped: context.close(promise: nil)
        }
    }

    // MARK: Requests

    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        queue?.noteInput()
        guard state.takesInput else { return }
        parser.append(unwrapInboundIn(data))
        parse(context)
    }

    /// Passes on what has been received, as far as it is its turn.
    private func parse(_ context: ChannelHandlerContext) {
        do {
            while state.isExpecting {
                guard let event = try parser.next() else { return try noteIncomplete(context) }
                switch event {
                case .head(let head): begin(head, context)
                case .body(let bytes): if state.receiveBody(bytes.readableBytes) { requests?.receive(bytes) }
                case .end: endRequest(context)
                }
            }
        } catch {
            refuse(error, context)
        }
    }

    private func noteIncomplete(_ context: ChannelHandlerContext) throws(RequestParser.Violation) {
        if state.isInputOver, parser.isAmidRequest { throw RequestParser.Violation(.cutShort) }
        if parser.hasBytes, state.receivedFirstByte(at: context.eventLoop.now) { setTimer(context) }
    }

    private func begin(_ head: RequestHead, _ context: ChannelHandlerContext) {
        var head = head
        if head.offersUpgrade {
            if decide(on: head, context) { return }
            // A server may ignore the offer.
            head = head.withoutUpgrade()
        }
        state.begin(.init(head, isDemanded: memory != nil), at: context.eventLoop.now)
        requests?.receive(head)
    }

    private func endRequest(_ context: ChannelHandlerContext) {
        let continuation = state.receiveEnd(hasBytes: parser.hasBytes, at: context.eventLoop.now)
        requests?.receiveEnd()
        proceed(continuation, context)
    }

    private func proceed(_ continuation: ConnectionState.Continuation, _ context: ChannelHandlerContext) {
        switch continuation {
        case .none: break
        case .awaitInput: setTimer(context)
        case .awaitTurn:
            setTimer(context)
            queue?.add(self)
        case .close: context.close(promise: nil)
        }
    }

    public func channelReadComplete(context: ChannelHandlerContext) {
        state.readCompleted()
        if state.takesInput { requests?.completeReading() }
        setTimer(context)
        context.fireChannelReadComplete()
    }

    /// Reads more of a large body, which is not read until it is wanted. At the first demand the head has been accepted, and
    /// a client that waits gets a 100 (RFC 9110 §10.1.1).
    ///
    /// A request whose head is refused is therefore refused before its body arrives, and a server without room for a body
    /// does not read it.
    ///
    /// - Parameter isHeld: Whether what was read stays in memory.
    func demand(isHeld: Bool) {
        guard let context, let continues = state.demand(isHeld: isHeld) else { return }
        if isHeld { setTimer(context) }
        if continues {
            output.append(.continue, [:], isOld: false, to: context)
            flush()
        }
        readWithheld(context)
    }

    // MARK: Reading

    /// Reads on when the channel would, unless what has been read must be handled first.
    public func read(context: ChannelHandlerContext) {
        let wasPending = state.isReadPending
        guard state.read(hasBytes: parser.hasBytes, at: context.eventLoop.now) else { return }
        if !wasPending, state.isAmidRequest { setTimer(context) }
        context.read()
    }

    private func readWithheld(_ context: ChannelHandlerContext) {
        if state.releaseRead(hasBytes: parser.hasBytes) { read(context: context) }
    }

    // MARK: Other protocols

    /// Begins to decide on an offer. The server may take its time. Returns false when the request is to be answered as if it
    /// had made none.
    private func decide(on head: RequestHead, _ context: ChannelHandlerContext) -> Bool {
        guard let upgrade, head.body == .none || head.body == .length(0) else { return false }
        let this = NIOLoopBound((self, head), eventLoop: context.eventLoop)
        cancelDecision = upgrade.consider(head.request, context.channel) { decision in
            let (connection, head) = this.value
            connection.take(decision, on: head)
        }
        guard cancelDecision != nil else { return false }
        state.beginDecision(on: .init(head, isDemanded: false))
        // The end of the request has no bytes of its own.
        _ = try? parser.next()
        return true
    }

    private func take(_ decision: ConnectionUpgrade.Decision, on head: RequestHead) {
        guard let context, cancelDecision != nil else { return }
        cancelDecision = nil
        guard context.channel.isActive else { return }
        switch decision {
        case .refuse(let refusal):
            state.endDecision()
            requests?.receive(head, refused: refusal)
        case .accept(let fields, let add):
            let written = context.eventLoop.makePromise(of: Void.self)
            output.append(.switchingProtocols, fields, isOld: false, to: context)
            completion.promise = written
            flush()
            leave(context) { try add(self, context.pipeline, written.futureResult) }
        }
    }

    /// Leaves the connection to other handlers, with the bytes that are theirs.
    private func leave(_ context: ChannelHandlerContext, _ add: () throws -> Void) {
        let (bytes, isOver) = (parser.takeBytes(), state.isInputOver)
        do {
            try add()
        } catch {
            return context.close(promise: nil)
        }
        if bytes.readableBytes > 0 {
            context.fireChannelRead(wrapInboundOut(bytes))
            context.fireChannelReadComplete()
        }
        if isOver { context.fireUserInboundEventTriggered(ChannelEvent.inputClosed) }
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }

    // MARK: Answers

    /// Whether the connection takes more of an answer at once.
    ///
    /// - Throws: `ChannelError.ioOnClosedChannel`.
    func hasRoom() throws -> Bool {
        guard let context, context.channel.isActive else { throw ChannelError.ioOnClosedChannel }
        return context.channel.isWritable
    }

    /// Writes the head of the answer to the request.
    ///
    /// - Parameter body: The number of bytes of the whole body, if it is written next.
    func write(_ status: HTTPResponse.Status, _ fields: HTTPFields, body: Int = 0) {
        guard let context, state.takesAnswer else { return }
        let closes = state.beginAnswer(closes: fields.value(of: .connection)?.lowercased() == "close")
        output.append(
            status, fields, date: DateField.now, closes: closes, isOld: state.exchange?.isOld ?? false, body: body,
            to: context)
    }

    /// Writes a part of the answer's body.
    func write(_ bytes: ByteBuffer) {
        guard let context, state.exchange?.isHead == false else { return }
        output.append(bytes, to: context)
        let size = bytes.readableBytes
        guard let answers = memory?.answers, size > MemoryBudget.small else { return }
        answers.add(size)
        completion.memory += size
    }

    /// Writes the end of the answer.
    func writeEnd(_ trailers: HTTPFields? = nil) {
        guard let context, state.takesAnswer else { return }
        // An answer to HEAD has no body, and so no end of chunks.
        if state.exchange?.isHead == true { output.skipEnd() } else { output.appendEnd(trailers, to: context) }
        completion.endsAnswer = true
        if state.endAnswer(at: context.eventLoop.now) { return finish(context) }
        readWithheld(context)
    }

    /// The consequences of all that was written having been handed to the network.
    private struct Completion {
        var endsAnswer = false
        /// The number of bytes that count as memory of answers.
        var memory = 0
        var closes = false
        var promise: EventLoopPromise<Void>?
    }

    /// Hands what was written to the network: to the kernel, as far as it takes it at once, and the rest to the channel.
    func flush() {
        guard let context else { return }
        let completion = completion
        self.completion = Completion()
        if output.isEmpty, writes == 0 { return complete(completion, nil) }
        if let direct, writes == 0, let bytes = output.takeSingle() {
            // Most answers are one buffer, which the kernel takes at once.
            let accepted = bytes.withUnsafeReadableBytes(direct.offer)
            if accepted == bytes.readableBytes { return complete(completion, nil) }
            var rest = bytes
            rest.moveReaderIndex(forwardBy: accepted)
            write([rest], to: context, completion)
        } else {
            write(output.take(), to: context, completion)
        }
        // What is left of an answer may be too little to make the channel unwritable, and yet keep the whole in memory.
        if state.exchange?.isAnswered == true, !state.isBlocked { noteUnsent(context) }
    }

    private func write(_ buffers: [ByteBuffer], to context: ChannelHandlerContext, _ completion: Completion) {
        let written = context.eventLoop.makePromise(of: Void.self)
        writes += 1
        written.futureResult.assumeIsolated().whenComplete { [self] result in
            writes -= 1
            let error: (any Error)? = if case .failure(let error) = result { error } else { nil }
            complete(completion, error)
        }
        for buffer in buffers.dropLast() { context.write(wrapOutboundOut(buffer), promise: nil) }
        // The promise is completed behind what was written before.
        context.writeAndFlush(wrapOutboundOut(buffers.last ?? ByteBuffer()), promise: written)
    }

    private func complete(_ completion: Completion, _ error: (any Error)?) {
        if completion.memory > 0 { memory?.answers.remove(completion.memory) }
        if let error { completion.promise?.fail(error) } else { completion.promise?.succeed() }
        if completion.endsAnswer { answerWasWritten() }
        if completion.closes { context?.close(promise: nil) }
    }

    private func answerWasWritten() {
        let continuation = state.answerWasWritten(hasBytes: parser.hasBytes)
        guard let context, context.channel.isActive else { return }
        if state.isBlocked { noteUnsent(context) }
        proceed(continuation, context)
    }

    public func channelWritabilityChanged(context: ChannelHandlerContext) {
        noteUnsent(context)
        if context.channel.isWritable { requests?.resume() }
        context.fireChannelWritabilityChanged()
    }

    /// Notes whether the client is waited for, and gives it its time anew.
    private func noteUnsent(_ context: ChannelHandlerContext) {
        let isBlocked = !context.channel.isWritable || state.exchange?.isAnswered == true
        state.noteUnsent(isBlocked ? unsent(context) : nil, at: context.eventLoop.now)
        setTimer(context)
    }

    /// Returns the number of bytes that the client has not taken yet.
    private func unsent(_ context: ChannelHandlerContext) -> Int {
        (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }

    // MARK: Refusals

    /// Answers a request that is none, or that breaks a rule, and ends the connection.
    private func refuse(_ violation: RequestParser.Violation, _ context: ChannelHandlerContext) {
        guard state.takesInput else { return }
        let (isAmidRequest, exchange) = (state.isAmidRequest, state.exchange)
        // An answer that has begun ends here, cut short; one that is complete is the last.
        if exchange.map({ !$0.hasAnswerBegun }) ?? !isAmidRequest { answer(violation, to: exchange, context) }
        finish(context)
        if isAmidRequest { requests?.fail(BodyCutShort()) }
    }

    private func answer(
        _ violation: RequestParser.Violation, to exchange: ConnectionState.Exchange?, _ context: ChannelHandlerContext
    ) {
        let id = violation.requestID ?? RequestID.make(for: exchange?.fields ?? [:])
        let body = refused(violation.refusal, id)
        var fields: HTTPFields = [
            .contentType: "application/json", .contentLength: String(body.readableBytes), .requestID: id,
            .xContentTypeOptions: "nosniff",
        ]
        if violation.refusal.status == .serviceUnavailable { fields[.retryAfter] = "5" }
        output.append(violation.refusal.status, fields, closes: true, isOld: exchange?.isOld ?? false, to: context)
        if exchange?.isHead != true { output.append(body, to: context) }
    }

    public func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard state.takesInput else { return }
        requests?.fail(error)
        context.close(promise: nil)
    }

    // MARK: The end

    /// Closes the output behind the last answer. To close at once would make the kernel answer the client's further
    /// bytes with a reset, which can destroy the answer before it is read (RFC 9112 §9.6).
    private func finish(_ context: ChannelHandlerContext) {
        parser = RequestParser()
        let closes = state.finish(at: context.eventLoop.now)
        setTimer(context)
        if closes {
            // Closing at once would drop what has not been sent.
            completion.closes = true
            return flush()
        }
        flush()
        let closed = context.eventLoop.makePromise(of: Void.self)
        closed.futureResult.assumeIsolated().whenSuccess { [self] in
            guard !state.outputClosed(at: context.eventLoop.now) else { return context.close(promise: nil) }
            setTimer(context)
            context.read()
        }
        context.close(mode: .output, promise: closed)
        context.read()
    }

    public func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ChannelEvent.inputClosed:
            if state.inputClosed() { return context.close(promise: nil) }
            if state.takesInput { parse(context) }
            closeIfOver(context)
        case is ChannelShouldQuiesceEvent:
            if state.quiesce() { context.close(promise: nil) }
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }

    private func closeIfOver(_ context: ChannelHandlerContext) {
        if state.isOver(hasBytes: parser.hasBytes) { context.close(promise: nil) }
    }

    public func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    public func handlerRemoved(context: ChannelHandlerContext) {
        timer?.task.cancel()
        timer = nil
        self.context = nil
        end()
    }

    private func end() {
        cancelDecision.take()?()
        requests?.end()
        requests = nil
        direct = nil
    }

    // MARK: Deadlines

    private struct Timer {
        let task: NIOScheduledCallback
        let at: NIODeadline
    }

    private var deadline: NIODeadline {
        state.deadline(
            limits, bodiesAreShort: memory?.bodies.isShort == true, answersAreShort: memory?.answers.isShort == true)
    }

    /// Makes sure that the timer fires no later than the deadline. A deadline that has moved away is noticed when the
    /// timer fires, so that requests and chunks need not reschedule it.
    private func setTimer(_ context: ChannelHandlerContext) {
        var deadline = deadline
        // Other requests may run short of memory at any time.
        if memory != nil, state.isBlocked || state.isHoldingBody {
            deadline = min(deadline, context.eventLoop.now + MemoryBudget.patience)
        }
        guard deadline < timer?.at ?? .distantFuture else { return }
        timer?.task.cancel()
        schedule(at: deadline, on: context.eventLoop)
    }

    private func schedule(at time: NIODeadline, on eventLoop: any EventLoop) {
        timer = (try? eventLoop.assumeIsolated().scheduleCallback(at: time, handler: self))
            .map { Timer(task: $0, at: time) }
    }

    /// A callback that comes later than this shows that the event loop was busy.
    private static let lag = TimeAmount.milliseconds(100)
}

extension ConnectionGuard: NIOScheduledCallbackHandler {
    public func handleScheduledCallback(eventLoop: some EventLoop) {
        let due = timer?.at ?? .distantFuture
        timer = nil
        guard let context else { return }
        if state.isBlocked { state.noteProgress(unsent(context), at: eventLoop.now) }
        let deadline = deadline
        if eventLoop.now < deadline { return setTimer(context) }
        // An event loop that was busy for so long has not read what the client has sent in time: it reads before the
        // deadline is applied.
        if eventLoop.now - Self.lag > due, excused != deadline {
            excused = deadline
            schedule(at: eventLoop.now + Self.lag, on: eventLoop)
        } else {
            context.close(promise: nil)
        }
    }
}

extension ConnectionGuard: LoopTurn {
    /// Goes on with the requests that the client has sent behind the last one: with one of them, if it is there as a whole and
    /// is answered at once.
    package func takeTurn() -> Int {
        state.takeTurn()
        guard let context, context.channel.isActive else { return 1 }
        parse(context)
        requests?.completeReading()
        readWithheld(context)
        closeIfOver(context)
        return 1
    }
}

extension ConnectionGuard: ChannelOutboundHandler {
    public typealias OutboundIn = Never
}

extension ConnectionGuard {
    /// The time limits for a client. A connection that takes longer is closed without an answer.
    public struct Limits: Sendable {
        /// The time from the opening of the connection, or the first byte of a further request, to the end of the head.
        public var header: TimeAmount = .seconds(10)
        /// The time between an answer and the first byte of the next request.
        public var keepAlive: TimeAmount = .seconds(75)
        /// The time without a byte in the middle of a request. It counts only while the server wants to read.
        public var bodyProgress: TimeAmount = .seconds(30)
        /// The time from the end of a request's head to its last byte.
        public var request: TimeAmount = .seconds(600)
        /// The time without the client taking any of an answer that waits for it, or all of a last answer.
        public var answerProgress: TimeAmount = .seconds(60)
        /// The time from the server's last byte until the client closes; what it sends meanwhile is discarded.
        public var lingering: TimeAmount = .seconds(5)

        public init() {}
    }
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
