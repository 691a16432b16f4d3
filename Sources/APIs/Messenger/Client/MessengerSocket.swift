import Contract
import ContractClient
import Foundation

/// One signed-in connection to `/ws`, which sends and receives frames. It does not reconnect by itself;
/// ``MessengerLive`` does.
public struct MessengerSocket: Sendable {
    private let socket: any Socket
    /// The signed-in user.
    public let user: Messenger.User.ID

    /// Returns the next frame. Frames of unknown types come as `UnknownFrame`.
    ///
    /// - Throws: ``SocketClosed`` once the connection has ended, `CancellationError`, `DecodingError`.
    public func receive() async throws -> any Messenger.ServerFrame { try await socket.frame() }

    /// Sends a frame, and returns when it has been handed to the network.
    ///
    /// - Throws: ``SocketClosed`` once the connection has ended.
    public func send(_ frame: some Messenger.ClientFrame) async throws { try await socket.send(frame) }

    /// Ends the connection. A second call does nothing.
    public func close() async { await socket.close(code: 1000, reason: "") }

    init(_ socket: any Socket, token: String) async throws {
        try await socket.send(Messenger.Authenticate(token: token))
        switch try await socket.frame() {
        case let authenticated as Messenger.Authenticated:
            self.socket = socket
            self.user = authenticated.user
        case let other:
            await socket.close(code: 1000, reason: "")
            throw SocketRejected(message: (other as? Messenger.LiveError)?.message ?? "Unexpected frame")
        }
    }
}

/// The server did not accept the token.
public struct SocketRejected: Error, Sendable {
    /// The server's message.
    public let message: String
}

extension SocketRejected: ReadableError {
    public var translationKey: String { "error.socket-rejected" }
    public var errorDescription: String? { "The server did not accept the live connection." }
    public var recoverySuggestion: String? { "Please sign in again." }
}

extension MessengerClient {
    /// The largest frame that a server of this contract sends, in bytes: a message of 16,384 characters, with room to
    /// spare.
    static let maximumFrame = 262_144

    /// Opens a live socket and signs in to it, for uses that ``live(over:pacing:)`` does not cover.
    ///
    /// - Parameter transport: The WebSocket client; by default this client's own.
    /// - Throws: ``SocketRejected``, ``SignedOut``, the network's error.
    public func openSocket(over transport: (any SocketTransport)? = nil) async throws -> MessengerSocket {
        let url = baseURL.appendingPathComponent("ws")
        let token = try await accessToken()
        let socket = try await (transport ?? sockets).open(url, headers: [:], maximumMessageSize: Self.maximumFrame)
        return try await MessengerSocket(socket, token: token)
    }
}

extension Socket {
    fileprivate func send(_ frame: some Messenger.ClientFrame) async throws { try await send(frame.text()) }

    fileprivate func frame() async throws -> any Messenger.ServerFrame {
        while true {
            if case .text(let text) = try await receive() { return try Messenger.serverFrames.decode(Data(text.utf8)) }
        }
    }
}

extension LiveSocket {
    func send(_ frame: some Messenger.ClientFrame) async throws { try await send(frame.text()) }
    func frame() async throws -> any Messenger.ServerFrame {
        try Messenger.serverFrames.decode(Data(try await receive().utf8))
    }
}

extension Messenger.ClientFrame {
    fileprivate func text() throws -> String { String(decoding: try json(), as: UTF8.self) }
}
