import HTTPTypes
public import NIOCore
public import NIOHTTP1
import NIOHTTPTypesHTTP1
import NIOWebSocket

/// Turns an HTTP/1 connection into a WebSocket, if its first request asks for one at a route.
///
/// It must be the next behind NIO's decoder. The others never see a handshake, so that their time limit for a first
/// request also limits the admission. After a handshake the decoder is removed and
/// `HTTPServerUpgradeEvents.upgradeComplete` has passed through the pipeline, on which any other handler of the
/// connection must remove itself. Any other first request is forwarded, without an `Upgrade` field, and this handler
/// removes itself.
public final class SocketUpgrade: ChannelInboundHandler, RemovableChannelHandler {
    public typealias InboundIn = HTTPServerRequestPart
    public typealias InboundOut = HTTPServerRequestPart
    public typealias OutboundOut = ByteBuffer

    private let routes: [SocketRoute]
    private let decoderLimits: NIOHTTPDecoderLimitConfiguration
    private let sendsDirectly: Bool
    private let isAllowed: (HTTPRequestHead) -> Bool
    private var gate: HeadGate?
    /// Whether a head with an `Upgrade` field is being answered. The decoder then only has its end to send.
    private var isDeciding = false
    private var admission: Task<Void, Never>?

    /// Makes the handler.
    ///
    /// - Parameters:
    ///   - routes: The routes, in any order; at most one per path.
    ///   - decoder: The limits of the decoder, because a new one is needed after an ignored `Upgrade`.
    ///   - sendsDirectly: Whether sockets may send past the channel's pipeline. It must be false where a handler of it
    ///     changes what is sent, as TLS does.
    ///   - isAllowed: Returns whether a head follows the rules of HTTP. One that does not is forwarded as it is, for
    ///     the next handler to refuse.
    public init(
        routes: [SocketRoute], decoder: NIOHTTPDecoderLimitConfiguration = .init(), sendsDirectly: Bool = false,
        isAllowed: @escaping (HTTPRequestHead) -> Bool = { _ in true }
    ) {
        self.routes = routes
        self.sendsDirectly = sendsDirectly
        self.isAllowed = isAllowed
        decoderLimits = decoder
    }

    public func handlerAdded(context: ChannelHandlerContext) {
        let pipeline = context.pipeline.syncOperations
        let gate = HeadGate()
        do {
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(gate, position: .before(decoder))
            self.gate = gate
        } catch {
            context.fireErrorCaught(error)
            context.close(promise: nil)
        }
    }

    public func handlerRemoved(context: ChannelHandlerContext) {
        admission?.cancel()
    }

    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isDeciding else { return }
        guard case .head(let head) = unwrapInboundIn(data), head.headers.contains(name: "Upgrade"), isAllowed(head),
            let request = try? HTTPRequest(head, secure: false, splitCookie: false)
        else {
            gate?.open()
            context.fireChannelRead(data)
            context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
            return
        }
        isDeciding = true
        gate?.hold()
        let path = request.path?.prefix { $0 != "?" } ?? ""
        guard Handshake.isRequested(by: request), let route = routes.first(where: { $0.path == path }) else {
            return ignoreUpgrade(context: context)
        }
        do throws(Handshake.Invalid) {
            admit(request, to: route, try Handshake(request), context: context)
        } catch {
            route.metrics.answered(error.status.code)
            answer(error.status, error.headers, ByteBuffer(), context: context)
        }
    }

    private func admit(
        _ request: HTTPRequest, to route: SocketRoute, _ handshake: Handshake, context: ChannelHandlerContext
    ) {
        let peer = context.channel.remoteAddress?.ipAddress
        let this = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let eventLoop = context.eventLoop
        admission = Task {
            let admission = await route.admit(request, peer)
            eventLoop.execute {
                let (upgrade, context) = this.value
                guard context.channel.isActive else { return }
                switch admission {
                case .accept(let make):
                    handshake.response(on: context.channel).assumeIsolated().whenSuccess { response in
                        route.metrics.answered(response.status.code)
                        upgrade.accept(response, request, make, route, context: context)
                    }
                case .refuse(let status, let headers, let body):
                    route.metrics.answered(status.code)
                    upgrade.answer(status, headers, body, context: context)
                }
            }
        }
    }

    // MARK: Outcomes

    private func ignoreUpgrade(context: ChannelHandlerContext) {
        removeDecoder(context: context) { [self] in
            addDecoder(context: context)
            context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
            gate?.open(replayingHead: true)
        }
    }

    /// Answers the handshake with an ordinary response, and continues with the next request.
    private func answer(
        _ status: HTTPResponse.Status, _ headers: HTTPFields, _ body: ByteBuffer, context: ChannelHandlerContext
    ) {
        var response = HTTPResponse(status: status, headerFields: headers)
        response.headerFields[.contentLength] = String(body.readableBytes)
        response.headerFields[.xContentTypeOptions] = "nosniff"
        context.writeAndFlush(wrapOutboundOut(response.encoded(with: body)), promise: nil)
        removeDecoder(context: context) { [self] in
            addDecoder(context: context)
            isDeciding = false
            gate?.scanNext()
        }
    }

    private func accept(
        _ response: HTTPResponse, _ request: HTTPRequest, _ make: @escaping () -> any SocketHandler,
        _ route: SocketRoute, context: ChannelHandlerContext
    ) {
        let written = context.eventLoop.makePromise(of: Void.self)
        context.writeAndFlush(wrapOutboundOut(response.encoded()), promise: written)
        removeDecoder(context: context) { [self] in
            let pipeline = context.pipeline.syncOperations
            let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: request.path ?? "/")
            context.pipeline.fireUserInboundEventTriggered(
                HTTPServerUpgradeEvents.upgradeComplete(toProtocol: "websocket", upgradeRequest: head))
            let decoder = ByteToMessageHandler(
                WebSocketFrameDecoder(maxFrameSize: max(125, route.limits.maximumMessageSize)))
            let socket = SocketChannelHandler(
                make(), limits: route.limits, channel: context.channel, sendsDirectly: sendsDirectly,
                after: written.futureResult)
            socket.metrics = route.metrics
            do {
                try pipeline.addHandler(decoder, position: .after(self))
                try pipeline.addHandler(socket, position: .after(decoder))
            } catch {
                return context.close(promise: nil)
            }
            pipeline.removeHandler(context: context, promise: nil)
            gate?.open()
        }
    }

    // MARK: The decoder

    /// Removes the HTTP decoder, which NIO completes a tick later. The decoder has no bytes, because of ``HeadGate``.
    private func removeDecoder(context: ChannelHandlerContext, then next: @escaping () -> Void) {
        let pipeline = context.pipeline.syncOperations
        do {
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            pipeline.removeHandler(decoder).assumeIsolated().whenComplete { _ in
                if context.channel.isActive { next() }
            }
        } catch {
            context.close(promise: nil)
        }
    }

    private func addDecoder(context: ChannelHandlerContext) {
        let decoder = ByteToMessageHandler(HTTPRequestDecoder(limitConfiguration: decoderLimits))
        do {
            try context.pipeline.syncOperations.addHandler(decoder, position: gate.map { .after($0) } ?? .first)
        } catch {
            context.close(promise: nil)
        }
    }
}

extension HTTPResponse {
    /// Returns the bytes of an answer to a handshake.
    fileprivate func encoded(with body: ByteBuffer = ByteBuffer()) -> ByteBuffer {
        let phrase = HTTPResponseStatus(statusCode: status.code).reasonPhrase
        var bytes = ByteBuffer(string: "HTTP/1.1 \(status.code) \(phrase)\r\n")
        for field in headerFields { bytes.writeString("\(field.name.rawName): \(field.value)\r\n") }
        bytes.writeStaticString("\r\n")
        bytes.writeImmutableBuffer(body)
        return bytes
    }
}
