import Foundation
import HTTPTypes

/// Opens WebSockets. `URLSession` does it on Apple platforms; `NIOSockets` does it on Linux, where `URLSession` cannot.
public protocol SocketTransport: Sendable {
    /// Opens a WebSocket (RFC 6455) and returns once the server has answered 101.
    ///
    /// - Parameters:
    ///   - url: A URL with the scheme `ws`, `wss`, `http` or `https`.
    ///   - headers: The headers of the upgrade request.
    ///   - maximumMessageSize: The largest message in bytes; a larger one closes the socket with 1009.
    /// - Throws: ``SocketRefused`` when the server answers anything but 101, else the network's own error.
    func open(_ url: URL, headers: HTTPFields, maximumMessageSize: Int) async throws -> any Socket
}

/// One open WebSocket, from the client's side. Safe to use from several tasks, with one receiver at a time.
public protocol Socket: Sendable {
    /// Sends one text message; returns when it has been handed to the network.
    func send(_ text: String) async throws

    /// Returns the next message, in order.
    ///
    /// - Throws: ``SocketClosed`` once the connection has ended, `CancellationError` when the task is cancelled.
    func receive() async throws -> SocketMessage

    /// Sends a protocol ping and returns when its pong has come.
    func ping() async throws

    /// Closes with a code (1000, or 3000–4999) and returns when the connection has ended. A second call does nothing.
    func close(code: UInt16, reason: String) async
}

/// A whole message, put together from its fragments.
public enum SocketMessage: Sendable, Equatable {
    case text(String)
    case binary([UInt8])
}

/// The connection has ended.
public struct SocketClosed: Error, Equatable {
    /// The close code of the peer; 1005 when its close frame had none, 1006 when no close frame came.
    public let code: UInt16
    /// The peer's reason; often empty.
    public let reason: String

    public init(code: UInt16, reason: String = "") {
        self.code = code
        self.reason = reason
    }
}

/// The server did not upgrade the connection.
public struct SocketRefused: Error {
    /// The HTTP status that the server answered instead of 101.
    public let status: Int
    /// The body of the answer. It may be empty even if the server sent one, because `URLSession` does not pass it on.
    public let body: [UInt8]

    public init(status: Int, body: [UInt8]) {
        self.status = status
        self.body = body
    }
}
