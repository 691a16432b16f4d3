import ArgumentParser
import Foundation
import Hummingbird
import Logging
import NIOCore
import NIOPosix

/// The floor of HTTP servers: a bare Hummingbird route that answers the same bytes every time.
struct HTTPFloor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "floor-http", abstract: "Serve one fixed answer.", shouldDisplay: false)

    @Option var status: Int
    @Option var body: String?
    @Option(help: "A file with a body that is too long for an argument.") var bodyFile: String?
    @Option(help: "The path of the route.") var path = "/chats/{id}/messages"

    func validate() throws {
        if (body == nil) == (bodyFile == nil) { throw ValidationError("--body or --body-file") }
    }

    func run() async throws {
        let body = try body ?? String(contentsOfFile: bodyFile ?? "", encoding: .utf8)
        let response = Response(
            status: .init(code: status), headers: [.contentType: "application/json"],
            body: .init(byteBuffer: ByteBuffer(string: body)))
        let router = Router(context: BasicRequestContext.self)
        let path = RouterPath(path)
        router.get(path) { _, _ in response }
        router.post(path) { _, _ in response }
        router.get("/health") { _, _ in response }
        var logger = Logger(label: "floor")
        logger.logLevel = .warning
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0), backlog: 1024),
            onServerRunning: { channel in
                print("floor http://127.0.0.1:\(channel.localAddress?.port ?? 0)")
                fflush(nil)
            },
            eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton), logger: logger)
        try await application.runService()
    }
}

/// The floor of fan-out: the same bytes are written to every connection, with one `execute` per event loop.
///
/// There is no HTTP, no handshake and no queue. A connection whose first byte is `P` publishes with each byte that
/// follows.
struct HubFloor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "floor-hub", abstract: "Serve a bare hub.", shouldDisplay: false)

    @Option(help: "The bytes written to each connection, including a WebSocket frame's header.")
    var frameSize: Int

    func run() async throws {
        var frame = ByteBuffer()
        frame.writeBytes([0x81, 126])
        frame.writeInteger(UInt16(frameSize - 4))
        frame.writeRepeatingByte(UInt8(ascii: "x"), count: frameSize - 4)

        let group = MultiThreadedEventLoopGroup.singleton
        let subscribers = Array(group.makeIterator()).map(BareHub.Subscribers.init)
        let hub = BareHub(frame: frame, loops: subscribers)
        let channel = try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1024)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(BareHub.Connection(hub))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        print("floor http://127.0.0.1:\(channel.localAddress?.port ?? 0)")
        fflush(nil)
        try await channel.closeFuture.get()
    }
}

private struct BareHub: Sendable {
    let frame: ByteBuffer
    let loops: [Subscribers]

    func publish() {
        for subscribers in loops { subscribers.write(frame) }
    }

    /// The subscribers on one event loop. They are used only there.
    final class Subscribers: @unchecked Sendable {
        let eventLoop: any EventLoop
        private var contexts: [ObjectIdentifier: ChannelHandlerContext] = [:]

        init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

        func add(_ context: ChannelHandlerContext) { contexts[ObjectIdentifier(context)] = context }
        func remove(_ context: ChannelHandlerContext) { contexts[ObjectIdentifier(context)] = nil }

        func write(_ frame: ByteBuffer) {
            eventLoop.execute {
                for context in self.contexts.values { context.writeAndFlush(NIOAny(frame), promise: nil) }
            }
        }
    }

    final class Connection: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let hub: BareHub
        private var publishes: Bool?

        init(_ hub: BareHub) { self.hub = hub }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            for byte in unwrapInboundIn(data).readableBytesView {
                switch publishes {
                case true?: hub.publish()
                case false?: break
                case nil:
                    publishes = byte == UInt8(ascii: "P")
                    if publishes == false { subscribers(context)?.add(context) }
                }
            }
        }

        func channelInactive(context: ChannelHandlerContext) { subscribers(context)?.remove(context) }

        private func subscribers(_ context: ChannelHandlerContext) -> Subscribers? {
            hub.loops.first { $0.eventLoop === context.eventLoop }
        }
    }
}
