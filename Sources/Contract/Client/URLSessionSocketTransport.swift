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
        let socket = URLSessionSocket(request, configuration: configuration, maximumMessageSize: maximumMessageSize)
        try await socket.opened()
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

private final class URLSessionSocket: NSObject, Socket, URLSessionWebSocketDelegate {
    private struct State {
        var opening: CheckedContinuation<Void, any Error>?
        var outcome: Result<Void, any Error>?
        var closed: SocketClosed?
        var closing: [CheckedContinuation<Void, Never>] = []
        var isOver = false
    }

    private let state = Locked(State())
    private let task = Locked<URLSessionWebSocketTask?>(nil)

    init(_ request: URLRequest, configuration: URLSessionConfiguration, maximumMessageSize: Int) {
        super.init()
        // The session keeps its delegate until it is invalidated, which the end of the task does.
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        let task = session.webSocketTask(with: request)
        task.maximumMessageSize = maximumMessageSize
        self.task.use { $0 = task }
        session.finishTasksAndInvalidate()
    }

    private var webSocket: URLSessionWebSocketTask {
        get throws {
            guard let task = task.use({ $0 }) else { throw SocketClosed(code: 1006) }
            return task
        }
    }

    func opened() async throws {
        let task = try webSocket
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome = state.use { state in
                    if state.outcome == nil { state.opening = continuation }
                    return state.outcome
                }
                if let outcome { return continuation.resume(with: outcome) }
                task.resume()
            }
        } onCancel: {
            task.cancel()
        }
    }

    // MARK: Socket

    func send(_ text: String) async throws {
        do { try await webSocket.send(.string(text)) } catch { throw ending(error) }
    }

    func receive() async throws -> SocketMessage {
        do {
            switch try await webSocket.receive() {
            case .string(let text): return .text(text)
            case .data(let data): return .binary([UInt8](data))
            @unknown default: throw SocketClosed(code: 1003)
            }
        } catch {
            throw ending(error)
        }
    }

    func ping() async throws {
        let task = try webSocket
        let _: Void = try await withCheckedThrowingContinuation { continuation in
            task.sendPing { error in
                if let error { continuation.resume(throwing: error) } else { continuation.resume() }
            }
        }
    }

    func close(code: UInt16, reason: String) async {
        guard let task = try? webSocket else { return }
        await withCheckedContinuation { continuation in
            let isOver = state.use { state in
                if !state.isOver { state.closing.append(continuation) }
                return state.isOver
            }
            if isOver { return continuation.resume() }
            task.cancel(
                with: URLSessionWebSocketTask.CloseCode(rawValue: Int(code)) ?? .normalClosure,
                reason: Data(reason.utf8))
        }
    }

    /// Returns the server's close frame, if there was one: it says more than the error that followed from it.
    private func ending(_ error: any Error) -> any Error {
        if error is CancellationError || Task.isCancelled { return CancellationError() }
        if let closed = state.use({ $0.closed }) { return closed }
        guard let task = try? webSocket, task.closeCode != .invalid else { return SocketClosed(code: 1006) }
        return SocketClosed(
            code: UInt16(clamping: task.closeCode.rawValue),
            reason: task.closeReason.map { String(decoding: $0, as: UTF8.self) } ?? "")
    }

    // MARK: Callbacks of the session

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
    ) {
        finishOpening(.success(()))
    }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
    ) {
        state.use {
            $0.closed = SocketClosed(
                code: UInt16(clamping: closeCode.rawValue),
                reason: reason.map { String(decoding: $0, as: UTF8.self) } ?? "")
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        if let response = task.response as? HTTPURLResponse, response.statusCode != 101 {
            finishOpening(.failure(SocketRefused(status: response.statusCode, body: [])))
        } else {
            finishOpening(.failure(error ?? URLError(.networkConnectionLost)))
        }
        let waiting = state.use { state in
            state.isOver = true
            defer { state.closing = [] }
            return state.closing
        }
        for continuation in waiting { continuation.resume() }
    }

    private func finishOpening(_ outcome: Result<Void, any Error>) {
        let opening = state.use { state in
            if state.outcome == nil { state.outcome = outcome }
            defer { state.opening = nil }
            return state.opening
        }
        opening?.resume(with: outcome)
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
