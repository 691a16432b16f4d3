import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A TCP proxy between a client and a server on this machine, which delays or cuts their traffic as a test asks.
public final class FaultyProxy: Sendable {
    public enum Direction: Sendable {
        case toServer
        case toClient
    }

    public enum Action: Sendable {
        case forward
        /// Delays these bytes and all that follow them on the connection.
        case delay(TimeAmount)
        /// Ends the connection for both ends and drops these bytes.
        case cut
        /// Delivers these bytes, and ends the connection before their answer.
        case forwardAndCut
    }

    /// Returns what to do with a piece of traffic.
    public typealias Rule = @Sendable (Direction, ByteBuffer) -> Action

    public let port: Int
    private let state: State

    /// The rule in a struct: a bare closure would be wrapped once more each time that the lock is taken.
    fileprivate struct Held {
        var rule: Rule

        init(_ rule: @escaping Rule) { self.rule = rule }
    }

    /// The state that the handlers on the event loops share.
    fileprivate final class State: Sendable {
        let rule = NIOLockedValueBox(Held { _, _ in .forward })
        let isRefusing = NIOLockedValueBox(false)
        let refusals = NIOLockedValueBox(0)
        let connections = NIOLockedValueBox<[ObjectIdentifier: any Channel]>([:])
        let cuts = NIOLockedValueBox(0)

        func refusesThis() -> Bool {
            refusals.withLockedValue { rest in
                defer { rest = max(0, rest - 1) }
                return rest > 0
            }
        }

        func cut(_ channel: any Channel) {
            cuts.withLockedValue { $0 += 1 }
            channel.close(promise: nil)
        }
    }

    private init(port: Int, state: State) {
        self.port = port
        self.state = state
    }

    /// Replaces the rule, also for existing connections.
    public func setRule(_ rule: @escaping Rule) { state.rule.withLockedValue { $0 = Held(rule) } }

    /// The number of connections that the proxy has cut.
    public var cuts: Int { state.cuts.withLockedValue { $0 } }

    /// Cuts every connection.
    public func cutAll() {
        for channel in state.connections.withLockedValue({ Array($0.values) }) { state.cut(channel) }
    }

    /// Sets whether new connections end at once, as if the server were away.
    public func refuse(_ isRefusing: Bool) {
        state.isRefusing.withLockedValue { $0 = isRefusing }
        if isRefusing { cutAll() }
    }

    /// Cuts every connection and the next few new ones, as a restart of the server does.
    public func restart(refusing count: Int) {
        state.refusals.withLockedValue { $0 = count }
        cutAll()
    }

    /// Runs a proxy while the closure runs.
    public static func running<T>(to target: Int, _ body: (FaultyProxy) async throws -> T) async throws -> T {
        let state = State()
        let group = MultiThreadedEventLoopGroup.singleton
        let port = try await reservePort()
        let listener = try await ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { client in
                guard !state.isRefusing.withLockedValue({ $0 }), !state.refusesThis() else { return client.close() }
                return ClientBootstrap(group: client.eventLoop)
                    .channelOption(.autoRead, value: false)
                    .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                    .connect(host: "127.0.0.1", port: target)
                    .flatMapThrowing { server in
                        try client.pipeline.syncOperations.addHandler(Relay(state, .toServer, to: server))
                        try server.pipeline.syncOperations.addHandler(Relay(state, .toClient, to: client))
                        state.connections.withLockedValue { $0[ObjectIdentifier(client)] = client }
                        client.closeFuture.whenComplete { _ in
                            state.connections.withLockedValue { $0[ObjectIdentifier(client)] = nil }
                            server.close(promise: nil)
                        }
                        server.closeFuture.whenComplete { _ in client.close(promise: nil) }
                        server.read()
                    }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .bind(host: "127.0.0.1", port: port).get()
        let proxy = FaultyProxy(port: port, state: state)
        do {
            let result = try await body(proxy)
            try await listener.close()
            proxy.cutAll()
            return result
        } catch {
            try await listener.close()
            proxy.cutAll()
            throw error
        }
    }

    /// Passes on what one end sends to the other, a piece at a time.
    private final class Relay: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let state: State
        private let direction: Direction
        private let peer: any Channel
        private var waiting = CircularBuffer<ByteBuffer>()
        private var isBusy = false

        init(_ state: State, _ direction: Direction, to peer: any Channel) {
            self.state = state
            self.direction = direction
            self.peer = peer
        }

        func handlerAdded(context: ChannelHandlerContext) { if context.channel.isActive { context.read() } }
        func channelActive(context: ChannelHandlerContext) { context.read() }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            waiting.append(unwrapInboundIn(data))
            next(context)
        }

        /// Passes on the pieces in order. It reads more when all of them have been written.
        private func next(_ context: ChannelHandlerContext) {
            guard !isBusy else { return }
            guard let bytes = waiting.popFirst() else { return context.read() }
            switch state.rule.withLockedValue({ $0.rule })(direction, bytes) {
            case .forward:
                pass(bytes, context)
            case .delay(let time):
                isBusy = true
                let this = NIOLoopBound((self, context), eventLoop: context.eventLoop)
                context.eventLoop.scheduleTask(in: time) {
                    let (relay, context) = this.value
                    relay.isBusy = false
                    relay.pass(bytes, context)
                }
            case .cut:
                state.cut(context.channel)
            case .forwardAndCut:
                let (state, channel) = (state, context.channel)
                peer.writeAndFlush(bytes).whenComplete { _ in state.cut(channel) }
            }
        }

        private func pass(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
            isBusy = true
            let this = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            peer.writeAndFlush(bytes).whenSuccess { _ in
                let (relay, context) = this.value
                relay.isBusy = false
                relay.next(context)
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
