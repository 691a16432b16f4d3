import NIOCore
import NIOWebSocket

/// The last handler of a WebSocket's channel: it receives frames and sends bytes.
///
/// It is a plain handler and its own ``SocketConnection``, so that a socket needs one object, one timer and no task.
final class SocketChannelHandler: ChannelInboundHandler, SocketConnection {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = ByteBuffer

    private enum State {
        case open
        /// A close frame has been sent, in answer to the peer's or before it.
        case closing
        case closed
    }

    /// The time limit for the peer's part of the closing handshake.
    private static let closingTime = TimeAmount.seconds(5)
    private static let ping = ByteBuffer(frame: 0x89, payload: ByteBuffer())

    let eventLoop: any EventLoop
    let remoteAddress: String?
    private let limits: SocketLimits
    /// The handler; `nil` after it was notified that the socket is closed, because it usually holds the socket in turn.
    private var handler: (any SocketHandler)?
    private var context: ChannelHandlerContext?
    private var state = State.open
    private var messages: MessageAssembler
    private var queuedFrames = 0
    private var queuedBytes = 0
    private var whenEmpty: [() -> Void] = []
    private var lastHeard: NIODeadline
    private var nextPing: NIODeadline
    private var timer: NIOScheduledCallback?

    init(_ handler: any SocketHandler, limits: SocketLimits, channel: any Channel) {
        self.handler = handler
        self.limits = limits
        eventLoop = channel.eventLoop
        remoteAddress = channel.remoteAddress?.ipAddress
        messages = MessageAssembler(maximumSize: limits.maximumMessageSize)
        lastHeard = eventLoop.now
        nextPing = limits.pingInterval.map { [lastHeard] in lastHeard + $0 } ?? .distantFuture
    }

    // MARK: Sending

    func send(_ frame: TextFrame) {
        guard state == .open else { return }
        enqueue(frame.bytes)
    }

    func whenFlushed(_ action: @escaping () -> Void) {
        guard state == .open else { return }
        whenEmpty.append(action)
        if queuedFrames == 0 { runWhenEmpty() }
    }

    private func runWhenEmpty() {
        let actions = whenEmpty
        whenEmpty = []
        if state == .open { for action in actions { action() } }
    }

    func close(_ code: SocketCloseCode, reason: String) {
        guard state == .open else { return }
        state = .closing
        write(ByteBuffer(closing: code, reason: reason))
        schedule(at: eventLoop.now + Self.closingTime)
    }

    /// Closes after a violation by the peer. Its further bytes are not trusted, so only their end is awaited. Closing
    /// at once could make the kernel discard our close frame together with unread data.
    private func fail(_ code: SocketCloseCode, reason: String) {
        guard state == .open else { return }
        close(code, reason: reason)
        context?.close(mode: .output, promise: nil)
    }

    private func enqueue(_ bytes: ByteBuffer) {
        guard queuedFrames < limits.maximumQueuedFrames,
            queuedBytes + bytes.readableBytes <= limits.maximumQueuedBytes
        else { return close(.tryAgainLater, reason: "Too slow") }
        write(bytes)
    }

    @discardableResult
    private func write(_ bytes: ByteBuffer) -> EventLoopFuture<Void>.Isolated? {
        guard let context else { return nil }
        let size = bytes.readableBytes
        queuedFrames += 1
        queuedBytes += size
        let written = eventLoop.makePromise(of: Void.self)
        let future = written.futureResult.assumeIsolated()
        future.whenComplete { [self] _ in
            queuedFrames -= 1
            queuedBytes -= size
            if queuedFrames == 0, !whenEmpty.isEmpty { runWhenEmpty() }
        }
        context.writeAndFlush(wrapOutboundOut(bytes), promise: written)
        return future
    }

    // MARK: Receiving

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        guard state == .open else {
            if frame.opcode == .connectionClose { context.close(promise: nil) }
            return
        }
        do throws(MessageAssembler.Violation) {
            switch try messages.accept(frame) {
            case .text(let text)?: handler?.received(text)
            case .binary(let count)?: handler?.receivedBinary(count)
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
        schedule(at: eventLoop.now + Self.closingTime)
        write(ByteBuffer(closing: code, reason: ""))?.whenComplete { [self] _ in
            context?.close(promise: nil)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        lastHeard = eventLoop.now
        // The channel's own reads start behind this handler, where the dismissed server's handler stops them.
        context.read()
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
        case ChannelEvent.inputClosed: context.close(promise: nil)
        case ChannelEvent.outputClosed: break
        case is ChannelShouldQuiesceEvent: close(.goingAway, reason: "Shutting down")
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    // MARK: Life

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
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
        timer?.cancel()
        timer = nil
        whenEmpty = []
        handler?.closed()
        handler = nil
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
