import ContractClient
import NIOCore
import NIOHTTP1
import NIOWebSocket

/// Requests the upgrade, checks the answer, and turns the channel into a WebSocket (RFC 6455 §4.1).
final class ClientHandshake: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private static let maximumBodySize = 65_536

    private let head: HTTPRequestHead
    private let upgrader: NIOWebSocketClientUpgrader
    private let maximumMessageSize: Int
    private let httpHandlers: [any RemovableChannelHandler]
    private let opened: EventLoopPromise<NIOSocket>
    private var response: HTTPResponseHead?
    private var body = ByteBuffer()

    init(
        head: HTTPRequestHead, maximumMessageSize: Int, httpHandlers: [any RemovableChannelHandler],
        opened: EventLoopPromise<NIOSocket>
    ) {
        var head = head
        // NIO's upgrader is only used for the keys of the request and the answer; the channel is rebuilt below.
        upgrader = NIOWebSocketClientUpgrader { channel, _ in channel.eventLoop.makeSucceededVoidFuture() }
        head.headers.add(name: "Connection", value: "upgrade")
        head.headers.add(name: "Upgrade", value: "websocket")
        upgrader.addCustom(upgradeRequestHeaders: &head.headers)
        self.head = head
        self.maximumMessageSize = min(maximumMessageSize, Int(UInt32.max))
        self.httpHandlers = httpHandlers
        self.opened = opened
    }

    func channelActive(context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            response = head
        case .body(let part):
            body.writeImmutableBuffer(part)
            if body.readableBytes >= Self.maximumBodySize { refuse() }
        case .end:
            if let response, isAccepted(response) {
                upgrade(context: context)
            } else {
                refuse()
            }
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        refuse()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        opened.fail(error)
        context.close(promise: nil)
    }

    private func isAccepted(_ response: HTTPResponseHead) -> Bool {
        response.status == .switchingProtocols
            && response.headers["Upgrade"].contains { $0.lowercased() == "websocket" }
            && upgrader.shouldAllowUpgrade(upgradeResponse: response)
    }

    /// The transport closes the channel when `opened` fails.
    private func refuse() {
        guard let response else { return opened.fail(ChannelError.eof) }
        opened.fail(
            SocketRefused(
                status: Int(response.status.code), body: Array(body.readableBytesView.prefix(Self.maximumBodySize))))
    }

    /// Replaces the handlers of HTTP by those of frames.
    private func upgrade(context: ChannelHandlerContext) {
        let pipeline = context.pipeline.syncOperations
        let frames = ClientSocketHandler(channel: context.channel)
        let maximumMessageSize = maximumMessageSize
        let firstFrames = FirstFrames {
            [
                WebSocketFrameEncoder(),
                ByteToMessageHandler(WebSocketFrameDecoder(maxFrameSize: max(125, maximumMessageSize))),
                NIOWebSocketFrameAggregator(
                    minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: 16_384,
                    maxAccumulatedFrameSize: maximumMessageSize),
                frames,
            ]
        }
        do {
            try pipeline.addHandler(firstFrames)
        } catch {
            return errorCaught(context: context, error: error)
        }
        let opened = opened
        let channel = context.channel
        pipeline.removeHandler(context: context, promise: nil)
        EventLoopFuture.andAllSucceed(httpHandlers.map { pipeline.removeHandler($0) }, on: context.eventLoop)
            .assumeIsolated()
            .flatMapThrowing {
                try firstFrames.pass(channel)
                opened.succeed(NIOSocket(frames, on: channel.eventLoop))
            }
            .whenFailure { error in
                opened.fail(error)
                channel.close(promise: nil)
            }
    }
}

/// Keeps what the server has sent right behind its answer until the handlers of HTTP have left.
///
/// The response decoder leaves a tick after it was asked to, and forwards those bytes while it leaves. Until then it
/// takes whatever is written for a part of a request, so that a pong or a close frame would end the process.
private final class FirstFrames: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let makeHandlers: () -> [any ChannelHandler]
    private var bytes = ByteBuffer()

    /// - Parameter makeHandlers: Makes the handlers that the bytes are for.
    init(_ makeHandlers: @escaping () -> [any ChannelHandler]) {
        self.makeHandlers = makeHandlers
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        bytes.writeImmutableBuffer(unwrapInboundIn(data))
    }

    /// Puts the handlers at the end of the pipeline, passes them the bytes, and leaves.
    func pass(_ channel: any Channel) throws {
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandlers(makeHandlers())
        let context = try pipeline.context(handler: self)
        if bytes.readableBytes > 0 {
            context.fireChannelRead(wrapInboundOut(bytes))
            context.fireChannelReadComplete()
        }
        pipeline.removeHandler(context: context, promise: nil)
    }
}
