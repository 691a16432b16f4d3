import Foundation
import HTTPTypes

#if !canImport(FoundationNetworking)
/// WebSockets of the platform's own client. `URLSession` has none on Linux: use `NIOSockets` there.
public struct URLSessionSocketTransport: SocketTransport {
    private let configuration: URLSessionConfiguration

    /// Creates a transport.
    ///
    /// - Parameter configuration: By default without cookies, and with at most 10 s for the handshake.
    public init(configuration: URLSessionConfiguration = .concordSocket) {
        self.configuration = configuration
    }

    public func open(_ url: URL, headers: HTTPFields, maximumMessageSize: Int) async throws -> any Socket {
        var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
        // `URLSessionWebSocketTask` takes no other schemes.
        switch parts?.scheme?.lowercased() {
        case "http": parts?.scheme = "ws"
        case "https": parts?.scheme = "wss"
        default: break
        }
        guard let target = parts?.url else { throw URLError(.badURL) }
        var request = URLRequest(url: target)
        for field in headers { request.addValue(field.value, forHTTPHeaderField: field.name.rawName) }
        // The session keeps its delegate until it is invalidated, which the end of the task does.
        let delegate = SocketDelegate()
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        let task = session.webSocketTask(with: request)
        task.maximumMessageSize = maximumMessageSize
        let socket = CallbackSocket(task)
        delegate.socket.use { $0 = socket }
        session.finishTasksAndInvalidate()
        try await socket.open()
        return socket
    }
}

extension URLSessionConfiguration {
    /// A configuration without cookies. A handshake that takes more than 10 s fails; an open socket may be silent for
    /// longer.
    public static var concordSocket: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.timeoutIntervalForRequest = 10
        return configuration
    }
}

extension URLSessionWebSocketTask: CallbackTask {
    package func start() { resume() }

    package func send(_ text: String, then: @escaping @Sendable ((any Error)?) -> Void) {
        send(.string(text), completionHandler: then)
    }

    package func receive(then: @escaping @Sendable (Result<SocketMessage, any Error>) -> Void) {
        receive { (result: Result<Message, any Error>) in
            then(
                result.flatMap { message in
                    switch message {
                    case .string(let text): .success(.text(text))
                    case .data(let data): .success(.binary([UInt8](data)))
                    @unknown default: .failure(SocketClosed(code: 1003))
                    }
                })
        }
    }

    package func ping(then: @escaping @Sendable ((any Error)?) -> Void) { sendPing(pongReceiveHandler: then) }

    package func close(code: UInt16, reason: String) {
        cancel(with: CloseCode(rawValue: Int(code)) ?? .normalClosure, reason: Data(reason.utf8))
    }

    package var closeFrame: SocketClosed? { closeCode == .invalid ? nil : SocketClosed(closeCode, closeReason) }
}

extension SocketClosed {
    fileprivate init(_ code: URLSessionWebSocketTask.CloseCode, _ reason: Data?) {
        self.init(
            code: UInt16(clamping: code.rawValue), reason: reason.map { String(decoding: $0, as: UTF8.self) } ?? "")
    }
}

private final class SocketDelegate: NSObject, URLSessionWebSocketDelegate {
    let socket = Locked<CallbackSocket?>(nil)

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
    ) {
        socket.use { $0 }?.didOpen()
    }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
    ) {
        socket.use { $0 }?.didClose(SocketClosed(closeCode, reason))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let response = task.response as? HTTPURLResponse
        let refusal = response.flatMap { $0.statusCode == 101 ? nil : SocketRefused(status: $0.statusCode, body: []) }
        let socket = socket.use { socket in
            defer { socket = nil }
            return socket
        }
        socket?.didEnd(refusal ?? error ?? URLError(.networkConnectionLost))
    }
}
#else
/// A placeholder on Linux, where `URLSession` has no WebSockets: use `NIOSockets` there.
public struct URLSessionSocketTransport: SocketTransport {
    public init() {}

    /// - Throws: ``SocketsUnavailable``, always.
    public func open(_ url: URL, headers: HTTPFields, maximumMessageSize: Int) async throws -> any Socket {
        throw SocketsUnavailable()
    }
}
#endif

/// This platform's `URLSession` has no WebSockets.
public struct SocketsUnavailable: Error, CustomStringConvertible {
    public var description: String { "URLSession has no WebSockets here: pass `sockets: NIOSocketTransport()`." }
}
