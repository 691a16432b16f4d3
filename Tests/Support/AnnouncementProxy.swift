import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A TCP proxy between nodes and their event bus that loses notifications, or holds back what a node announces.
public final class AnnouncementProxy: Sendable {
    /// The protocol of the bus.
    public enum Bus: Sendable {
        case postgreSQL
        case redis

        /// The words that a connection sends which announces.
        fileprivate var mark: [UInt8] {
            switch self {
            case .postgreSQL: Array("synchronous_commit = off".utf8)
            case .redis: Array("PUBLISH".utf8)
            }
        }

        /// Takes the next whole message of a server from a buffer; nil when it has not come completely.
        fileprivate func next(_ bytes: inout ByteBuffer) -> (message: ByteBuffer, isNotification: Bool)? {
            switch self {
            case .postgreSQL:
                // A byte for the kind, four for the length, which counts itself, and the content.
                guard let kind = bytes.getInteger(at: bytes.readerIndex, as: UInt8.self),
                    let length = bytes.getInteger(at: bytes.readerIndex + 1, as: UInt32.self),
                    let message = bytes.readSlice(length: 1 + Int(length))
                else { return nil }
                return (message, kind == UInt8(ascii: "A"))
            case .redis:
                guard let length = Self.redisLength(bytes.readableBytesView[...]) else { return nil }
                guard let message = bytes.readSlice(length: length) else { return nil }
                return (message, message.readableBytesView.starts(with: "*3\r\n$7\r\nmessage\r\n".utf8))
            }
        }

        /// Returns the length of the value with which bytes begin: a line, and what its number announces.
        private static func redisLength(_ bytes: ByteBufferView.SubSequence) -> Int? {
            guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
            let line = bytes[bytes.startIndex...end]
            let number = Int(String(decoding: line.dropFirst().dropLast(2), as: UTF8.self)) ?? 0
            switch line.first {
            case UInt8(ascii: "$"):
                let length = line.count + (number < 0 ? 0 : number + 2)
                return length <= bytes.count ? length : nil
            case UInt8(ascii: "*"):
                var length = line.count
                for _ in 0..<max(0, number) {
                    guard let part = redisLength(bytes.dropFirst(length)) else { return nil }
                    length += part
                }
                return length
            default: return line.count
            }
        }
    }

    private struct State {
        var share = 0.0
        var generator = SeededGenerator(seed: 20_261_123)
        var isHolding = false
        var lost = 0
        var held = 0
    }

    public let port: Int
    private let state: NIOLockedValueBox<State>

    private init(port: Int, state: NIOLockedValueBox<State>) {
        self.port = port
        self.state = state
    }

    /// Drops this share of all notifications on their way to nodes.
    public func lose(_ share: Double) { state.withLockedValue { $0.share = share } }

    /// The number of notifications that were dropped.
    public var lost: Int { state.withLockedValue { $0.lost } }

    /// Drops everything that nodes send by the connections over which they announce, from now on or no more.
    public func hold(_ isHolding: Bool) { state.withLockedValue { $0.isHolding = isHolding } }

    /// The number of pieces of announcements that were dropped.
    public var held: Int { state.withLockedValue { $0.held } }

    /// Runs a proxy while the closure runs. The nodes connect without encryption (`sslmode=disable&gssencmode=disable`).
    public static func running<T>(
        to target: Int, of bus: Bus = .postgreSQL, _ body: (AnnouncementProxy) async throws -> T
    ) async throws -> T {
        let state = NIOLockedValueBox(State())
        let group = MultiThreadedEventLoopGroup.singleton
        let port = try await reservePort()
        let listener = try await ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { client in
                ClientBootstrap(group: client.eventLoop)
                    .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                    .connect(host: "127.0.0.1", port: target)
                    .flatMapThrowing { server in
                        try client.pipeline.syncOperations.addHandler(ToServer(bus, state, server))
                        try server.pipeline.syncOperations.addHandler(ToClient(bus, state, client))
                        client.closeFuture.whenComplete { _ in server.close(promise: nil) }
                        server.closeFuture.whenComplete { _ in client.close(promise: nil) }
                    }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .bind(host: "127.0.0.1", port: port).get()
        let result: Result<T, any Error>
        do {
            result = .success(try await body(AnnouncementProxy(port: port, state: state)))
        } catch {
            result = .failure(error)
        }
        try await listener.close()
        return try result.get()
    }

    private final class ToServer: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let mark: [UInt8]
        private let state: NIOLockedValueBox<State>
        private let server: any Channel
        private var isAnnouncing = false

        init(_ bus: Bus, _ state: NIOLockedValueBox<State>, _ server: any Channel) {
            mark = bus.mark
            self.state = state
            self.server = server
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let bytes = unwrapInboundIn(data)
            if !isAnnouncing { isAnnouncing = bytes.readableBytesView.contains(mark) }
            let isHeld = state.withLockedValue { state in
                guard isAnnouncing, state.isHolding else { return false }
                state.held += 1
                return true
            }
            if !isHeld { server.writeAndFlush(bytes, promise: nil) }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }

    private final class ToClient: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let bus: Bus
        private let state: NIOLockedValueBox<State>
        private let client: any Channel
        /// The part that has come of a message that is not complete.
        private var rest = ByteBuffer()

        init(_ bus: Bus, _ state: NIOLockedValueBox<State>, _ client: any Channel) {
            self.bus = bus
            self.state = state
            self.client = client
        }

        /// Passes on complete messages.
        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            rest.writeImmutableBuffer(unwrapInboundIn(data))
            var kept = ByteBuffer()
            while let (message, isNotification) = bus.next(&rest) {
                if !isNotification || !isLost() { kept.writeImmutableBuffer(message) }
            }
            rest.discardReadBytes()
            if kept.readableBytes > 0 { client.writeAndFlush(kept, promise: nil) }
        }

        private func isLost() -> Bool {
            state.withLockedValue { state in
                guard Double.random(in: 0..<1, using: &state.generator) < state.share else { return false }
                state.lost += 1
                return true
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
