public import HTTPTypes
public import NIOCore

/// A path at which WebSockets are opened.
public struct SocketRoute: Sendable {
    /// The path, which is compared byte for byte with the request's path; ``admit`` receives the query.
    public var path: String
    public var limits: SocketLimits
    /// Decides about each valid handshake, outside of the event loop, by the request and the peer's IP address (behind
    /// a proxy, the proxy's). It must check the request's `Origin` and credentials.
    public var admit: @Sendable (_ request: HTTPRequest, _ peer: String?) async -> SocketAdmission
    let metrics = SocketMetrics()

    public init(
        path: String,
        limits: SocketLimits = SocketLimits(),
        admit: @escaping @Sendable (_ request: HTTPRequest, _ peer: String?) async -> SocketAdmission
    ) {
        self.path = path
        self.limits = limits
        self.admit = admit
    }
}

/// The answer to a handshake.
public enum SocketAdmission: Sendable {
    /// The handshake is answered with 101; the closure makes the connection's handler, on its event loop.
    case accept(@Sendable () -> any SocketHandler)
    /// An ordinary response is sent, after which the connection continues with HTTP. `Content-Length` is added.
    case refuse(status: HTTPResponse.Status, headers: HTTPFields, body: ByteBuffer)
}

/// The limits of one socket.
public struct SocketLimits: Sendable {
    /// The most bytes of a received message, all fragments together; beyond it the socket closes with 1009. As many
    /// bytes again may wait in an incomplete frame.
    public var maximumMessageSize = 65_536
    /// The most frames a second that the peer may send in the long run, fragments, pings and pongs included; beyond it, and
    /// beyond ``frameBurst``, the socket closes with 1008.
    public var frameRate = 100
    /// The most frames that the peer may send at once, when it has sent few before: there is room to subscribe to a thousand
    /// chats after a reconnection. It is a million at most.
    public var frameBurst = 2000
    /// The most frames passed to `SocketConnection.send` that the kernel has not accepted; beyond it the socket
    /// closes with 1013.
    public var maximumQueuedFrames = 256
    /// The most bytes of those frames; beyond it the socket closes with 1013.
    public var maximumQueuedBytes = 1_048_576
    /// The time between the protocol pings of the server; `nil` for none.
    public var pingInterval: TimeAmount? = .seconds(25)
    /// The time without a byte from the peer after which the connection is dropped; `nil` for no limit.
    public var idleTimeout: TimeAmount? = .seconds(60)
    /// The time that the peer has to take what waits and to answer the server's close frame, before the connection is
    /// dropped.
    public var closingTime = TimeAmount.seconds(5)

    public init() {}
}
