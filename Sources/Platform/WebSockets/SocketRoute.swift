public import HTTPTypes
public import NIOCore

/// A path where WebSockets are opened.
public struct SocketRoute: Sendable {
    /// Compared whole and byte for byte with the request's path; the query is left to ``admit``.
    public var path: String
    public var limits: SocketLimits
    /// Asked once per valid handshake, outside the event loop, with the request and the peer's IP address (the
    /// proxy's, behind one). The request's `Origin` and credentials are its business.
    public var admit: @Sendable (_ request: HTTPRequest, _ peer: String?) async -> SocketAdmission

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
    /// 101; the closure makes the connection's handler, on its event loop.
    case accept(@Sendable () -> any SocketHandler)
    /// An ordinary response, after which the connection goes on with HTTP. `Content-Length` is added.
    case refuse(status: HTTPResponse.Status, headers: HTTPFields, body: ByteBuffer)
}

/// What one socket may use.
public struct SocketLimits: Sendable {
    /// Bytes of one received message, all its fragments together; beyond it the socket closes with 1009. Up to as
    /// many bytes again may wait in a half-received frame.
    public var maximumMessageSize = 65_536
    /// Frames handed to ``SocketConnection/send(_:)`` that the kernel has not taken; beyond it: close 1013.
    public var maximumQueuedFrames = 256
    /// Bytes of those frames; beyond it: close 1013.
    public var maximumQueuedBytes = 1_048_576
    /// Time between the protocol pings of the server. `nil`: none.
    public var pingInterval: TimeAmount? = .seconds(25)
    /// The connection is dropped after this time without a byte from the peer. `nil`: never.
    public var idleTimeout: TimeAmount? = .seconds(60)

    public init() {}
}
