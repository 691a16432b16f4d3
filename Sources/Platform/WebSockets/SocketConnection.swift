public import NIOCore

/// One open WebSocket as its owner sees it. Every member is used on ``eventLoop``.
public protocol SocketConnection: AnyObject {
    /// Where the connection lives; any other thread reaches it by `eventLoop.execute`.
    var eventLoop: any EventLoop { get }

    /// The peer's IP address, without its port; behind a proxy, the proxy's. `nil` on a Unix domain socket.
    var remoteAddress: String? { get }

    /// Queues one text message. A queue beyond ``SocketLimits`` closes the socket with 1013; after
    /// ``close(_:reason:)`` the message is dropped.
    func send(_ frame: TextFrame)

    /// Runs `action` once everything queued so far has been handed to the network, or at once when nothing is queued; not
    /// at all when the socket ends before. For sending more than the queue holds, a batch at a time.
    func whenFlushed(_ action: @escaping () -> Void)

    /// Sends the close frame, waits up to 5 s for the peer's, then closes the connection. Idempotent: the first call
    /// wins.
    ///
    /// - Parameter reason: Cut to 123 bytes of UTF-8 (RFC 6455 §5.5).
    func close(_ code: SocketCloseCode, reason: String)
}

/// What an API does with a socket. Made once per connection and called on its event loop only, so it need not be
/// `Sendable` and must not block.
public protocol SocketHandler: AnyObject {
    /// The handshake is done; `socket` may be written to at once and kept until ``closed()``.
    func opened(_ socket: any SocketConnection)

    /// One whole text message, its fragments joined, valid UTF-8 and within ``SocketLimits/maximumMessageSize``.
    func received(_ text: ByteBuffer)

    /// One whole binary message.
    ///
    /// - Parameter count: Its size in bytes. The bytes themselves are not kept: no API here speaks binary.
    func receivedBinary(_ count: Int)

    /// The connection is gone. Called exactly once, however the socket ended.
    func closed()
}

/// Why a WebSocket was closed (RFC 6455 §7.4).
public struct SocketCloseCode: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt16

    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// 1000: the purpose of the connection is fulfilled.
    public static let normal = Self(rawValue: 1000)
    /// 1001: the server is shutting down.
    public static let goingAway = Self(rawValue: 1001)
    /// 1002: a frame broke the protocol.
    public static let protocolError = Self(rawValue: 1002)
    /// 1007: a text message or a close reason was not UTF-8.
    public static let invalidData = Self(rawValue: 1007)
    /// 1008: the API refuses to go on.
    public static let policyViolation = Self(rawValue: 1008)
    /// 1009: a message was longer than ``SocketLimits/maximumMessageSize``.
    public static let messageTooBig = Self(rawValue: 1009)
    /// 1013: the peer reads too slowly for what is sent to it.
    public static let tryAgainLater = Self(rawValue: 1013)
    /// 4001: the session behind the socket has ended.
    public static let sessionEnded = Self(rawValue: 4001)

    /// Whether a close frame may carry the code: 1004–1006 and 1015 are reserved for APIs, 1016–2999 are unassigned.
    var isAllowedOnWire: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}
