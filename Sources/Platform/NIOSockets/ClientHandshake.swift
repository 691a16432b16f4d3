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

    private func upgrade(context: ChannelHandlerContext) {
        let pipeline = context.pipeline.syncOperations
        let frames = ClientSocketHandler(channel: context.channel)
        do {
            try pipeline.addHandlers([
                WebSocketFrameEncoder(),
                ByteToMessageHandler(WebSocketFrameDecoder(maxFrameSize: max(125, maximumMessageSize))),
                NIOWebSocketFrameAggregator(
                    minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: 16_384,
                    maxAccumulatedFrameSize: maximumMessageSize),
                frames,
            ])
        } catch {
            return errorCaught(context: context, error: error)
        }
        // This handler is removed first, then those before it: the response decoder forwards, a tick later, the bytes
        // that the server has sent right after its answer.
        pipeline.removeHandler(context: context, promise: nil)
        for handler in httpHandlers {
            pipeline.removeHandler(handler, promise: nil)
        }
        opened.succeed(NIOSocket(frames, on: context.eventLoop))
    }
}
