import EventLoops
import NIOCore
import NIOWebSocket

/// The last handler of a WebSocket's channel: it receives frames and sends bytes.
///
/// It is a plain handler and its own ``SocketConnection``, so that a socket needs one object, one timer and no task.
///
/// The frames of one read are handled at once. A read is small (``reads``), and a socket that had many frames in one waits for
/// its turn in the loop's queue before it reads again: the frames are what it has done with its turn.
final class SocketChannelHandler: ChannelDuplexHandler, SocketConnection {
    typealias InboundIn = WebSocketFrame
    typealias OutboundIn = Never
    typealias OutboundOut = ByteBuffer

    /// The sizes of reads: usual frames have less than a hundred bytes.
    static let reads = AdaptiveRecvByteBufferAllocator(minimum: 256, initial: 512, maximum: 2048)
    /// The number of frames in one read up to which the next one does not wait.
    private static let framesAtOnce = 8

    private enum State {
        case open
        /// A close frame has been sent, in answer to the peer's or before it.
        case closing
        case closed
    }

    private static let ping = ByteBuffer(frame: 0x89, payload: ByteBuffer())

    let eventLoop: any EventLoop
    let remoteAddress: String?
    private let limits: SocketLimits
    /// Set before the handler is added to its channel.
    var metrics: SocketMetrics?
    /// The handler; `nil` after it was notified that the socket is closed, because it usually holds the socket in turn.
    private var handler: (any SocketHandler)?
    private var context: ChannelHandlerContext?
    private var state = State.open
    private var messages: MessageAssembler
    private var budget: FrameBudget
    /// The number of frames in the current read, or in the one that the socket's turn is for.
    private var framesRead = 0
    private var awaitsTurn = false
    private var isReadWithheld = false
    private var outbox = Outbox()
    private let flushes: FlushQueue
    private let queue: LoopQueue
    /// The way past the channel, where it sends the bytes as they are.
    private var direct: DirectSend?
    /// Whether the socket is in the queue of those that are flushed at the end of the tick.
    private var awaitsFlush = false
    private var whenEmpty: [() -> Void] = []
    /// Whether the peer's close frame is answered, so that the connection ends when everything has been sent.
    private var isAnsweringClose = false
    private var lastHeard: NIODeadline
    private var nextPing: NIODeadline
    private var timer: NIOScheduledCallback?

    /// Makes the handler, on the channel's event loop.
    ///
    /// - Parameters:
    ///   - sendsDirectly: Whether the channel sends the bytes as they are, so that they may go past it.
    ///   - response: Completes when the handshake's response, before which nothing may be sent directly, has been written.
    init(
        _ handler: any SocketHandler, limits: SocketLimits, channel: any Channel, sendsDirectly: Bool = false,
        after response: EventLoopFuture<Void>? = nil
    ) {
        self.handler = handler
        self.limits = limits
        direct = sendsDirectly ? DirectSend(channel) : nil
        eventLoop = channel.eventLoop
        flushes = FlushQueue.current(of: eventLoop)
        queue = LoopQueue.current(of: eventLoop)
        remoteAddress = channel.remoteAddress?.ipAddress
        messages = MessageAssembler(maximumSize: limits.maximumMessageSize)
        budget = FrameBudget(limits)
        lastHeard = eventLoop.now
        nextPing = limits.pingInterval.map { [lastHeard] in lastHeard + $0 } ?? .distantFuture
        guard let response else { return }
        outbox.beginForeignWrite()
        response.assumeIsolated().whenComplete { [self] _ in wrote(0) }
    }

    // MARK: Sending

    func send(_ frame: TextFrame) {
        guard state == .open else { return }
        metrics?.sent.increment()
        enqueue(frame.bytes)
    }

    func send(_ frames: JoinedFrames) {
        guard state == .open else { return }
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
        guard state == .open else { return }
        whenEmpty.append(action)
        if outbox.isEmpty { runWhenEmpty() }
    }

    private func runWhenEmpty() {
        if isAnsweringClose { context?.close(promise: nil) }
        guard !whenEmpty.isEmpty else { return }
        let actions = whenEmpty
        whenEmpty = []
        if state == .open { for action in actions { action() } }
    }

    func close(_ code: SocketCloseCode, reason: String) {
        guard state == .open else { return }
        state = .closing
        metrics?.closed(code)
        write(ByteBuffer(closing: code, reason: reason))
        flush()
        schedule(at: eventLoop.now + limits.closingTime)
    }

    /// Closes after a violation by the peer. Its further bytes are not trusted, so only their end is awaited. Closing
    /// at once could make the kernel discard our close frame together with unread data.
    private func fail(_ code: SocketCloseCode, reason: String) {
        guard state == .open else { return }
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
        if outbox.isEmpty { runWhenEmpty() }
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
        if outbox.isEmpty { runWhenEmpty() }
    }

    // MARK: Receiving

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        queue.noteInput()
        framesRead += 1
        let frame = unwrapInboundIn(data)
        guard state == .open else {
            if frame.opcode == .connectionClose { context.close(promise: nil) }
            return
        }
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
        state = .closing
        schedule(at: eventLoop.now + limits.closingTime)
        isAnsweringClose = true
        write(ByteBuffer(closing: code, reason: ""))
        flush()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        lastHeard = eventLoop.now
        if framesRead <= Self.framesAtOnce {
            framesRead = 0
        } else if !awaitsTurn {
            awaitsTurn = true
            queue.add(self)
        }
        context.fireChannelReadComplete()
    }

    func read(context: ChannelHandlerContext) {
        guard awaitsTurn else { return context.read() }
        isReadWithheld = true
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
        guard state != .closed else { return }
        state = .closed
        metrics?.open.decrement()
        timer?.cancel()
        timer = nil
        whenEmpty = []
        direct = nil
        handler?.closed()
        handler = nil
    }
}

extension SocketChannelHandler: LoopTurn {
    /// Reads on.
    func takeTurn() -> Int {
        let frames = framesRead
        (framesRead, awaitsTurn) = (0, false)
        if isReadWithheld {
            isReadWithheld = false
            context?.read()
        }
        return frames
    }
}

extension SocketChannelHandler: NIOScheduledCallbackHandler {
    /// Handles the socket's only timer. It is not moved when bytes arrive; instead the time is checked when it fires.
    func handleScheduledCallback(eventLoop: some EventLoop) {
        timer = nil
        let now = eventLoop.now
        guard state == .open, limits.idleTimeout.map({ now - lastHeard < $0 }) ?? true else {
            context?.close(promise: nil)
            return
        }
        if let interval = limits.pingInterval, now >= nextPing {
            nextPing = now + interval
            write(Self.ping)
        }
        scheduleNextCheck()
    }

    private func scheduleNextCheck() {
        let idleEnd = limits.idleTimeout.map { lastHeard + $0 } ?? .distantFuture
        let next = min(nextPing, idleEnd)
        if next < .distantFuture { schedule(at: next) }
    }

    private func schedule(at deadline: NIODeadline) {
        timer?.cancel()
        // This only fails on an event loop that is shutting down, where no timer is needed.
        timer = try? eventLoop.assumeIsolated().scheduleCallback(at: deadline, handler: self)
    }
}
