import ContractClient
import Foundation
import NIOCore
import NIOWebSocket

/// The last handler of a client's WebSocket channel: stores received messages until they are asked for, and stops
/// reading from the network while too many are stored.
final class ClientSocketHandler: ChannelDuplexHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundIn = Never
    typealias OutboundOut = WebSocketFrame

    private static let maximumInboxCount = 64
    private static let maximumInboxBytes = 1_048_576
    /// The time limit for the server's part of the closing handshake.
    private static let closingTime = TimeAmount.seconds(5)

    private let channel: any Channel
    private var context: ChannelHandlerContext?
    private var inbox = CircularBuffer<(message: SocketMessage, size: Int)>()
    private var inboxBytes = 0
    private var isReadWithheld = false
    private var receivers = CircularBuffer<EventLoopPromise<SocketMessage>>()
    private var pings: [(payload: UInt64, pong: EventLoopPromise<Void>)] = []
    private var lastPing: UInt64 = 0
    private var isCloseSent = false
    /// The content of the server's close frame, or the reason why this side has closed.
    private var reason: SocketClosed?
    /// Whether nothing more will be received.
    private var isOver = false

    init(channel: any Channel) {
        self.channel = channel
    }

    // MARK: Calls, on the event loop

    func send(_ text: String) -> EventLoopFuture<Void> {
        guard !isCloseSent, !isOver else { return channel.eventLoop.makeFailedFuture(ending) }
        let eventLoop = channel.eventLoop
        return write(.text, ByteBuffer(string: text)).flatMapError { [ending] _ in eventLoop.makeFailedFuture(ending) }
    }

    func receive(_ promise: EventLoopPromise<SocketMessage>) {
        if let (message, size) = inbox.popFirst() {
            inboxBytes -= size
            promise.succeed(message)
            if isReadWithheld, !isInboxFull {
                isReadWithheld = false
                context?.read()
            }
        } else if isOver {
            promise.fail(ending)
        } else {
            receivers.append(promise)
        }
    }

    func ping(_ pong: EventLoopPromise<Void>) {
        guard !isCloseSent, !isOver else { return pong.fail(ending) }
        lastPing += 1
        pings.append((lastPing, pong))
        // A failed write ends the connection, which fails the ping.
        _ = write(.ping, ByteBuffer(integer: lastPing))
    }

    /// Sends the close frame, unless one has been sent; the future succeeds when the connection has ended.
    @discardableResult
    func close(_ code: UInt16, reason: String) -> EventLoopFuture<Void> {
        if !isCloseSent, !isOver {
            var payload = ByteBuffer(integer: code)
            for character in reason.unicodeScalars where payload.readableBytes + character.utf8.count <= 125 {
                payload.writeBytes(character.utf8)
            }
            sendClose(payload)
        }
        return channel.closeFuture
    }

    /// Drops a cancelled wait.
    func forget<Value>(_ future: EventLoopFuture<Value>) {
        receivers.removeAll { $0.futureResult === future }
        pings.removeAll { $0.pong.futureResult === future }
    }

    // MARK: The channel

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        end()
        self.context = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    func read(context: ChannelHandlerContext) {
        if isInboxFull, !isCloseSent {
            isReadWithheld = true
        } else {
            context.read()
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        if frame.opcode == .connectionClose { return closed(frame, context: context) }
        guard !isCloseSent, !isOver else { return }
        guard frame.maskKey == nil, frame.reservedBits.isEmpty else { return fail(1002, "Invalid frame") }
        switch frame.opcode {
        case .text:
            guard let text = String(bytes: frame.data.readableBytesView, encoding: .utf8) else {
                return fail(1007, "Text must be UTF-8")
            }
            deliver(.text(text), size: frame.length)
        case .binary:
            deliver(.binary(Array(frame.data.readableBytesView)), size: frame.length)
        case .ping:
            _ = write(.pong, frame.data)
        case .pong:
            // A pong also answers every ping before its own (RFC 6455 §5.5.3).
            guard let payload = frame.data.getInteger(at: frame.data.readerIndex, as: UInt64.self),
                let index = pings.firstIndex(where: { $0.payload == payload })
            else { return }
            for ping in pings[...index] { ping.pong.succeed() }
            pings.removeSubrange(...index)
        default:
            fail(1002, "Unknown opcode")
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case NIOWebSocketError.invalidFrameLength, NIOWebSocketFrameAggregator.Error.accumulatedFrameSizeIsTooLarge:
            fail(1009, "Message too big")
        case is NIOWebSocketError, is NIOWebSocketFrameAggregator.Error:
            fail(1002, "Invalid frame")
        // These errors are about bytes after the first error, or truncated by the end of the connection.
        case is ByteToMessageDecoderError:
            break
        default:
            context.close(promise: nil)
        }
    }

    // MARK: Parts

    private var isInboxFull: Bool {
        inbox.count >= Self.maximumInboxCount || inboxBytes >= Self.maximumInboxBytes
    }

    private var ending: SocketClosed { reason ?? SocketClosed(code: 1006) }

    private func deliver(_ message: SocketMessage, size: Int) {
        if let receiver = receivers.popFirst() {
            receiver.succeed(message)
        } else {
            inbox.append((message, size))
            inboxBytes += size
        }
    }

    private func write(_ opcode: WebSocketOpcode, _ payload: ByteBuffer) -> EventLoopFuture<Void> {
        guard let context else { return channel.eventLoop.makeFailedFuture(ending) }
        let frame = WebSocketFrame(fin: true, opcode: opcode, maskKey: .random(), data: payload)
        return context.writeAndFlush(wrapOutboundOut(frame))
    }

    @discardableResult
    private func sendClose(_ payload: ByteBuffer) -> EventLoopFuture<Void> {
        isCloseSent = true
        let channel = channel
        let timeout = channel.eventLoop.scheduleTask(in: Self.closingTime) { channel.close(promise: nil) }
        channel.closeFuture.whenComplete { _ in timeout.cancel() }
        // The server's close frame may be behind messages that have not been requested.
        if isReadWithheld {
            isReadWithheld = false
            context?.read()
        }
        return write(.connectionClose, payload)
    }

    /// Closes the connection after a violation by the server.
    private func fail(_ code: UInt16, _ text: String) {
        guard !isCloseSent else { return }
        reason = SocketClosed(code: code, reason: text)
        close(code, reason: text)
        end()
    }

    private func closed(_ frame: WebSocketFrame, context: ChannelHandlerContext) {
        var payload = frame.data
        let code = payload.readInteger(as: UInt16.self)
        if reason == nil {
            reason = SocketClosed(code: code ?? 1005, reason: String(buffer: payload))
        }
        guard !isCloseSent else { return context.close(promise: nil) }
        let channel = channel
        sendClose(code.map { ByteBuffer(integer: $0) } ?? ByteBuffer()).whenComplete { _ in
            channel.close(promise: nil)
        }
    }

    private func end() {
        guard !isOver else { return }
        isOver = true
        for receiver in receivers { receiver.fail(ending) }
        receivers.removeAll()
        for ping in pings { ping.pong.fail(ending) }
        pings.removeAll()
    }
}
