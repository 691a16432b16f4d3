import ContractClient
import Foundation
import HTTPTypes
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import WebSockets

/// Connects socket clients to socket handlers, without a network in between.
public struct InProcessSockets: SocketTransport {
    private let routes: [SocketRoute]
    private let group: any EventLoopGroup

    public init(_ routes: [SocketRoute], group: any EventLoopGroup) {
        self.routes = routes
        self.group = group
    }

    public func open(_ url: URL, headers: HTTPFields, maximumMessageSize: Int) async throws -> any Socket {
        guard let route = routes.first(where: { $0.path == url.path }) else {
            throw SocketRefused(status: 404, body: [])
        }
        let query = url.query(percentEncoded: true).map { "?" + $0 } ?? ""
        let request = HTTPRequest(
            method: .get, scheme: "http", authority: "test", path: url.path + query, headerFields: headers)
        switch await route.admit(request, "127.0.0.1") {
        case .refuse(let status, _, let body):
            throw SocketRefused(status: status.code, body: Array(body.readableBytesView))
        case .accept(let make):
            let connection = Connection(group.next(), maximumMessageSize: route.limits.maximumMessageSize)
            try await connection.eventLoop.submit { connection.begin(make()) }.get()
            return connection
        }
    }

    /// A socket as both ends see it. The handler's side is used on the event loop only.
    private final class Connection: Socket, SocketConnection, Sendable {
        let eventLoop: any EventLoop
        private let maximumMessageSize: Int
        private let handler: NIOLoopBoundBox<(any SocketHandler)?>
        private let incoming: AsyncThrowingStream<SocketMessage, any Error>.Continuation
        private let messages: AsyncThrowingStream<SocketMessage, any Error>
        private let isClosed = NIOLockedValueBox(false)

        init(_ eventLoop: any EventLoop, maximumMessageSize: Int) {
            self.eventLoop = eventLoop
            self.maximumMessageSize = maximumMessageSize
            handler = .makeEmptyBox(eventLoop: eventLoop)
            (messages, incoming) = AsyncThrowingStream<SocketMessage, any Error>.makeStream()
        }

        func begin(_ handler: any SocketHandler) {
            self.handler.value = handler
            handler.opened(self)
        }

        // The handler's side.
        var remoteAddress: String? { "127.0.0.1" }
        func send(_ frame: TextFrame) {
            if !isClosed.withLockedValue({ $0 }) { incoming.yield(.text(String(buffer: frame.payload))) }
        }
        func whenFlushed(_ action: @escaping () -> Void) { if handler.value != nil { action() } }
        func close(_ code: SocketCloseCode, reason: String) { end(code.rawValue, reason) }

        private func end(_ code: UInt16, _ reason: String) {
            isClosed.withLockedValue { $0 = true }
            incoming.finish(throwing: SocketClosed(code: code, reason: reason))
            handler.value?.closed()
            handler.value = nil
        }

        // The client's side.
        func send(_ text: String) async throws {
            eventLoop.execute {
                guard text.utf8.count <= self.maximumMessageSize else { return self.close(.messageTooBig, reason: "") }
                self.handler.value?.received(ByteBuffer(string: text))
            }
        }
        func receive() async throws -> SocketMessage {
            // Iterators of one stream share its buffer.
            for try await message in messages { return message }
            throw SocketClosed(code: 1006)
        }
        func ping() async throws {
            // What was sent before has been received by then, as on a network.
            try await eventLoop.submit {}.get()
        }
        func close(code: UInt16, reason: String) async {
            try? await eventLoop.submit { self.end(code, reason) }.get()
        }
    }
}
