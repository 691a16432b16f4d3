import EventLoops
import NIOCore
import NIOWebSocket

/// The last handler of a WebSocket's channel: it receives frames and sends bytes.
///
/// It is a plain handler and its own ``SocketConnection``, so that a socket needs one object, one timer and no task.
///
/// The frames of one read are handled at once. A read is small (``readSizes``), and a socket that had many frames in one waits for
/// its turn in the loop's queue before it reads again: the frames are what it has done with its turn.
final class SocketChannelHandler: ChannelDuplexHandler, SocketConnection {
    typealias InboundIn = WebSocketFrame
    typealias OutboundIn = Never
    typealias OutboundOut = ByteBuffer

    /// The sizes of reads: usual frames have less than a hundred bytes.
    static let readSizes = AdaptiveRecvByteBufferAllocator(minimum: 256, initial: 512, maximum: 2048)
    private static let ping = ByteBuffer(frame: 0x89, payload: ByteBuffer())

    let eventLoop: any EventLoop
    let remoteAddress: String?
    private let limits: SocketLimits
    private let metrics: SocketMetrics?
    /// The handler; `nil` after it was notified that the socket is closed, because it usually holds the socket in turn.
    private var handler: (any SocketHandler)?
    private var context: ChannelHandlerContext?
    private var state = SocketState()
    private var messages: MessageAssembler
    private var budget: FrameBudget
    private var reads = SocketReads()
    private var pulse: SocketPulse
    private var timer: NIOScheduledCallback?
    private var outbox = Outbox()
    private let flushes: FlushQueue
    private let queue: LoopQueue
    /// The way past the channel, where it sends the bytes as they are.
    private var direct: DirectSend?
    /// Whether the socket is in the queue of those that are flushed at the end of the tick.
    private var awaitsFlush = false

    /// Makes the handler, on the channel's event loop.
    ///
    /// - Parameters:
    ///   - sendsDirectly: Whether the channel sends the bytes as they are, so that they may go past it.
    ///   - response: Completes when the handshake's response, before which nothing may be sent directly, has been written.
    init(
        _ handler: any SocketHandler, limits: SocketLimits, metrics: SocketMetrics? = nil, channel: any Channel,
        sendsDirectly: Bool = false, after response: EventLoopFuture<Void>? = nil
    ) {
        self.handler = handler
        self.limits = limits
        self.metrics = metrics
        direct = sendsDirectly ? DirectSend(channel) : nil
        eventLoop = channel.eventLoop
        flushes = FlushQueue.current(of: eventLoop)
        queue = LoopQueue.current(of: eventLoop)
        remoteAddress = channel.remoteAddress?.ipAddress
        messages = MessageAssembler(maximumSize: limits.maximumMessageSize)
        budget = FrameBudget(limits)
        pulse = SocketPulse(limits, at: eventLoop.now)
        guard let response else { return }
        outbox.beginForeignWrite()
        response.assumeIsolated().whenComplete { [self] _ in wrote(0) }
    }

    // MARK: Sending

    func send(_ frame: TextFrame) {
        guard state.isOpen else { return }
        metrics?.sent.increment()
        enqueue(frame.bytes)
    }

    func send(_ frames: JoinedFrames) {
        guard state.isOpen else { return }
        guard hasRoom(for: frames.bytes, count: frames.frames.count) else {
            for bytes in frames.frames { send(TextFrame(bytes: bytes)) }
            return
        }
        metrics?.sent.increment(by: frames.frames.count)
        guard context != nil else { return }
        outbox.append(frames)
        awaitFlush()
    }

    func whenFlushed(_ action: @escaping () -> Void) {
        guard state.isOpen else { return }
        state.wait(action)
        if outbox.isEmpty { sentAll() }
    }

    private func sentAll() {
        switch state.sentAll() {
        case .run(let actions): for action in actions { action() }
        case .close: context?.close(promise: nil)
        }
    }

    func close(_ code: SocketCloseCode, reason: String) {
        guard state.close() else { return }
        metrics?.closed(code)
        sendLast(ByteBuffer(closing: code, reason: reason))
    }

    /// Sends the close frame. The connection ends after a time, whatever the peer does.
    private func sendLast(_ bytes: ByteBuffer) {
        schedule(at: eventLoop.now + limits.closingTime)
        write(bytes)
        flush()
    }

    /// Closes after a violation by the peer. Its further bytes are not trusted, so only their end is awaited. Closing
    /// at once could make the kernel discard our close frame together with unread data.
    private func fail(_ code: SocketCloseCode, reason: String) {
        guard state.isOpen else { return }
        close(code, reason: reason)
        context?.close(mode: .output, promise: nil)
    }

    private func enqueue(_ bytes: ByteBuffer) {
        // What the kernel has not been offered yet is no sign of a slow peer.
        if !hasRoom(for: bytes) { flush() }
        guard hasRoom(for: bytes) else { return close(.tryAgainLater, reason: "Too slow") }
        write(bytes)
    }

    private func hasRoom(for bytes: ByteBuffer, count: Int = 1) -> Bool {
        outbox.frames + count <= limits.maximumQueuedFrames
            && outbox.bytes + bytes.readableBytes <= limits.maximumQueuedBytes
    }

    /// Adds a frame to those that are sent at the end of the tick.
    private func write(_ bytes: ByteBuffer) {
        guard context != nil else { return }
        outbox.append(bytes)
        awaitFlush()
    }

    private func awaitFlush() {
        guard !awaitsFlush else { return }
        awaitsFlush = true
        flushes.add(self)
    }

    /// Flushes the socket at the end of a tick.
    func endTick() {
        awaitsFlush = false
        flush()
    }

    /// Sends what waits, past the channel as far as the kernel takes it, the rest through the channel.
    private func flush() {
        guard let context else { return }
        if !outbox.isEmpty { sendDirectly() }
        let rest = outbox.passOn()
        guard rest.isEmpty else { return pass(rest, to: context) }
        if outbox.isEmpty { sentAll() }
    }

    /// Sends what the kernel takes at once, past the pipeline.
    private func sendDirectly() {
        if let direct { outbox.send(joining: flushes.memory, by: direct.offer) }
    }

    private func pass(_ frames: [ByteBuffer], to context: ChannelHandlerContext) {
        for frame in frames {
            let size = frame.readableBytes
            let written = eventLoop.makePromise(of: Void.self)
            written.futureResult.assumeIsolated().whenComplete { [self] _ in wrote(size) }
            context.write(wrapOutboundOut(frame), promise: written)
        }
        context.flush()
    }

    /// Notes that the channel has written a frame, or that it never will.
    private func wrote(_ size: Int) {
        outbox.endWrite(of: size)
        if outbox.isEmpty { sentAll() }
    }

    // MARK: Receiving

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        queue.noteInput()
        reads.receiveFrame()
        let frame = unwrapInboundIn(data)
        switch state.receive(isClose: frame.opcode == .connectionClose) {
        case .handle: handle(frame)
        case .ignore: break
        case .close: context.close(promise: nil)
        }
    }

    private func handle(_ frame: WebSocketFrame) {
        guard budget.take(at: eventLoop.now) else { return fail(.policyViolation, reason: "Too many frames") }
        do throws(MessageAssembler.Violation) {
            switch try messages.accept(frame) {
            case .text(let text)?:
                metrics?.received.increment()
                handler?.received(text)
            case .binary(let count)?:
                metrics?.received.increment()
                handler?.receivedBinary(count)
            case .ping(let payload)?: enqueue(ByteBuffer(frame: 0x8A, payload: payload))
            case .close(let code)?: answerClose(code)
            case .pong?, nil: break
            }
        } catch {
            fail(error.code, reason: error.reason)
        }
    }

    private func answerClose(_ code: SocketCloseCode?) {
        state.answerClose()
        sendLast(ByteBuffer(closing: code, reason: ""))
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        pulse.hear(at: eventLoop.now)
        if reads.complete() { queue.add(self) }
        context.fireChannelReadComplete()
    }

    func read(context: ChannelHandlerContext) {
        if reads.want() { context.read() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case NIOWebSocketError.invalidFrameLength: fail(.messageTooBig, reason: "Message too big")
        case is NIOWebSocketError: fail(.protocolError, reason: "Invalid control frame")
        // These errors are about bytes after the first error, or truncated by the end of the connection.
        case is ByteToMessageDecoderError: break
        default: context.close(promise: nil)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ChannelEvent.inputClosed:
            flush()
            context.close(promise: nil)
        case ChannelEvent.outputClosed: break
        case is ChannelShouldQuiesceEvent: close(.goingAway, reason: "Shutting down")
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    // MARK: Life

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        metrics?.open.increment()
        scheduleNextCheck()
        context.read()
        handler?.opened(self)
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        end()
        self.context = nil
    }

    private func end() {
        guard state.end() else { return }
        metrics?.open.decrement()
        timer?.cancel()
        timer = nil
        direct = nil
        handler?.closed()
        handler = nil
    }
}

extension SocketChannelHandler: LoopTurn {
    /// Reads on.
    func takeTurn() -> Int {
        let (frames, isWithheld) = reads.takeTurn()
        if isWithheld { context?.read() }
        return frames
    }
}

extension SocketChannelHandler: NIOScheduledCallbackHandler {
    func handleScheduledCallback(eventLoop: some EventLoop) {
        timer = nil
        let now = eventLoop.now
        guard state.isOpen, !pulse.isSilent(at: now) else {
            context?.close(promise: nil)
            return
        }
        if pulse.takePing(at: now) { write(Self.ping) }
        scheduleNextCheck()
    }

    private func scheduleNextCheck() {
        if let next = pulse.nextCheck { schedule(at: next) }
    }

    private func schedule(at deadline: NIODeadline) {
        timer?.cancel()
        // This only fails on an event loop that is shutting down, where no timer is needed.
        timer = try? eventLoop.assumeIsolated().scheduleCallback(at: deadline, handler: self)
    }
}
