public import NIOCore

/// An open WebSocket as its owner uses it. Every member must be used on ``eventLoop``.
public protocol SocketConnection: AnyObject {
    /// The event loop of the connection; other threads reach it with `eventLoop.execute`.
    var eventLoop: any EventLoop { get }

    /// The peer's IP address without its port; behind a proxy, the proxy's. `nil` on a Unix domain socket.
    var remoteAddress: String? { get }

    /// Queues a text message. A queue beyond ``SocketLimits`` closes the socket with 1013. After ``close(_:reason:)``
    /// the message is dropped.
    func send(_ frame: TextFrame)

    /// Queues text messages, as if each were sent by ``send(_:)-(TextFrame)``.
    func send(_ frames: JoinedFrames)

    /// Runs `action` when everything queued so far has been passed to the network, or at once when nothing is queued;
    /// it is not run when the socket ends before. It allows to send more than the queue holds, in batches.
    func whenFlushed(_ action: @escaping () -> Void)

    /// Sends the close frame, waits up to 5 s for the peer's, then closes the connection. Only the first call has an
    /// effect.
    ///
    /// - Parameter reason: The reason, which is cut to 123 bytes of UTF-8 (RFC 6455 §5.5).
    func close(_ code: SocketCloseCode, reason: String)
}

extension SocketConnection {
    public func send(_ frames: JoinedFrames) {
        for bytes in frames.frames { send(TextFrame(bytes: bytes)) }
    }
}

/// The behaviour of an API on a socket. It is made once per connection and called on its event loop only, so it need
/// not be `Sendable` and must not block.
public protocol SocketHandler: AnyObject {
    /// Called after the handshake. `socket` may be written to at once and kept until ``closed()``.
    func opened(_ socket: any SocketConnection)

    /// Called with a whole text message: its fragments joined, valid UTF-8 and within
    /// ``SocketLimits/maximumMessageSize``.
    func received(_ text: ByteBuffer)

    /// Called for a whole binary message.
    ///
    /// - Parameter count: The size in bytes. The bytes themselves are not kept, because no API uses binary messages.
    func receivedBinary(_ count: Int)

    /// Called exactly once when the connection has ended, in any way.
    func closed()
}

/// The reason why a WebSocket was closed (RFC 6455 §7.4).
public struct SocketCloseCode: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt16

    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The code 1000: the purpose of the connection is fulfilled.
    public static let normal = Self(rawValue: 1000)
    /// The code 1001: the server is shutting down.
    public static let goingAway = Self(rawValue: 1001)
    /// The code 1002: a frame violates the protocol.
    public static let protocolError = Self(rawValue: 1002)
    /// The code 1007: a text message or a close reason was not UTF-8.
    public static let invalidData = Self(rawValue: 1007)
    /// The code 1008: the API refuses to continue.
    public static let policyViolation = Self(rawValue: 1008)
    /// The code 1009: a message was longer than ``SocketLimits/maximumMessageSize``.
    public static let messageTooBig = Self(rawValue: 1009)
    /// The code 1013: the peer reads too slowly.
    public static let tryAgainLater = Self(rawValue: 1013)
    /// The code 4001: the session behind the socket has ended.
    public static let sessionEnded = Self(rawValue: 4001)

    /// Whether a close frame may contain the code: 1004–1006 and 1015 are reserved for APIs, 1016–2999 are unassigned.
    var isAllowedOnWire: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}
