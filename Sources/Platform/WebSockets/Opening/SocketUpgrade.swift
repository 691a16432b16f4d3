package import HTTPTypes
package import NIOCore
import NIOWebSocket

/// Turns HTTP/1 connections into WebSockets, where a request asks for one at a route.
package struct SocketUpgrade: Sendable {
    /// The decision on a handshake.
    package enum Outcome {
        /// The handshake is answered with 101 and these fields; `add` then gives the connection to the socket.
        case accept(
            HTTPFields,
            add: (_ handler: any ChannelHandler, _ pipeline: ChannelPipeline, _ answer: EventLoopFuture<Void>) throws ->
                Void)
        /// The handshake is answered with an ordinary response.
        case refuse(HTTPResponse.Status, HTTPFields, ByteBuffer)
    }

    private let routes: [SocketRoute]
    private let sendsDirectly: Bool

    /// Makes the upgrade.
    ///
    /// - Parameters:
    ///   - routes: The routes, in any order; at most one per path.
    ///   - sendsDirectly: Whether sockets may send past the channel's pipeline. It must be false where a handler of it
    ///     changes what is sent, as TLS does.
    package init(routes: [SocketRoute], sendsDirectly: Bool = false) {
        self.routes = routes
        self.sendsDirectly = sendsDirectly
    }

    /// Considers a request with an `Upgrade` field and without a body, on its channel's event loop.
    ///
    /// - Parameter decide: Called once with the decision, on the event loop and not before this returns, unless it is
    ///   cancelled.
    /// - Returns: Cancels the decision; nil when the request asks for no socket of a route.
    package func consider(
        _ request: HTTPRequest, on channel: any Channel, _ decide: @escaping @Sendable (sending Outcome) -> Void
    ) -> (() -> Void)? {
        let path = request.path?.prefix { $0 != "?" } ?? ""
        guard Handshake.isRequested(by: request), let route = routes.first(where: { $0.path == path }) else {
            return nil
        }
        let eventLoop = channel.eventLoop
        let handshake: Handshake
        do throws(Handshake.Invalid) {
            handshake = try Handshake(request)
        } catch {
            let invalid = error
            eventLoop.execute {
                route.metrics.answered(invalid.status.code)
                decide(.refuse(invalid.status, invalid.headers, ByteBuffer()))
            }
            return {}
        }
        let peer = channel.remoteAddress?.ipAddress
        let admission = Task { [self] in
            let admission = await route.admit(request, peer)
            eventLoop.execute {
                switch admission {
                case .accept(let make):
                    handshake.response(on: channel).assumeIsolated().whenSuccess { fields in
                        route.metrics.answered(101)
                        decide(
                            .accept(fields) { handler, pipeline, answer in
                                try add(make, of: route, to: pipeline, behind: handler, after: answer)
                            })
                    }
                case .refuse(let status, let headers, let body):
                    route.metrics.answered(status.code)
                    decide(.refuse(status, headers, body))
                }
            }
        }
        return { admission.cancel() }
    }

    /// Adds the handlers of a socket.
    private func add(
        _ make: @escaping @Sendable () -> any SocketHandler, of route: SocketRoute, to pipeline: ChannelPipeline,
        behind last: any ChannelHandler, after answer: EventLoopFuture<Void>
    ) throws {
        let pipeline = pipeline.syncOperations
        let channel = try pipeline.context(handler: last).channel
        let decoder = ByteToMessageHandler(
            WebSocketFrameDecoder(maxFrameSize: max(125, route.limits.maximumMessageSize)))
        let socket = SocketChannelHandler(
            make(), limits: route.limits, metrics: route.metrics, channel: channel, sendsDirectly: sendsDirectly,
            after: answer)
        try channel.syncOptions?.setOption(.recvAllocator, value: SocketChannelHandler.readSizes)
        try pipeline.addHandler(decoder, position: .after(last))
        try pipeline.addHandler(socket, position: .after(decoder))
    }
}
