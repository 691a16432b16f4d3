import ContractClient
import Foundation
import HTTPTypes
import NIOConcurrencyHelpers

/// Changes the traffic between a client and a server in the way that a mutant asks for.
public struct Defect: Sendable {
    /// A closure that sends a request to the real server.
    public typealias Forward = @Sendable (TransportRequest) async throws -> TransportResponse

    public var exchange: @Sendable (TransportRequest, Forward) async throws -> TransportResponse
    /// Returns what is done to the frames of a new socket.
    public var socket: @Sendable () -> SocketDefect

    public init(
        exchange: @escaping @Sendable (TransportRequest, Forward) async throws -> TransportResponse = {
            try await $1($0)
        },
        socket: @escaping @Sendable () -> SocketDefect = { SocketDefect() }
    ) {
        self.exchange = exchange
        self.socket = socket
    }
}

/// Changes the frames of one socket.
public struct SocketDefect: Sendable {
    /// Replaces a client's frame: returns what the server receives instead, and what the client receives at once.
    public var sent: @Sendable (String) async -> (forwarded: [String], replies: [String])
    /// Replaces a server's frame: returns what the client receives instead.
    public var received: @Sendable (String) -> [String]
    /// Whether the client receives its frames as binary messages.
    public var isBinary: Bool
    /// Replaces the end of a socket; nil keeps it from the client.
    public var closed: @Sendable (SocketClosed) -> SocketClosed?
    /// Returns how the client sees its socket closed after a frame of the server; nil leaves it open.
    public var closesAfter: @Sendable (String) -> SocketClosed?

    public init(
        sent: @escaping @Sendable (String) async -> (forwarded: [String], replies: [String]) = { ([$0], []) },
        received: @escaping @Sendable (String) -> [String] = { [$0] }, isBinary: Bool = false,
        closed: @escaping @Sendable (SocketClosed) -> SocketClosed? = { $0 },
        closesAfter: @escaping @Sendable (String) -> SocketClosed? = { _ in nil }
    ) {
        self.sent = sent
        self.received = received
        self.isBinary = isBinary
        self.closed = closed
        self.closesAfter = closesAfter
    }
}

/// A flag that is set when a defect has changed anything. A mutant whose defect never acts proves nothing.
public typealias Traces = NIOLockedValueBox<Bool>

/// A transport to a server, with a defect in front of it.
public struct DefectiveTransport: Transport {
    private let base: any Transport
    private let defect: Defect
    private let hasShown: Traces

    public init(base: any Transport, defect: Defect, hasShown: Traces) {
        self.base = base
        self.defect = defect
        self.hasShown = hasShown
    }

    public func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
        let forwarded = NIOLockedValueBox<[(TransportRequest, TransportResponse)]>([])
        let response = try await defect.exchange(request) { request in
            let response = try await base.send(request, progress: progress)
            forwarded.withLockedValue { $0.append((request, response)) }
            return response
        }
        let isFaithful = forwarded.withLockedValue { forwarded in
            forwarded.count == 1 && forwarded[0].0.isSame(as: request) && forwarded[0].1.isSame(as: response)
        }
        if !isFaithful { hasShown.withLockedValue { $0 = true } }
        return response
    }
}

/// A socket transport to a server, with a defect in front of it.
public struct DefectiveSockets: SocketTransport {
    private let base: any SocketTransport
    private let defect: Defect
    private let hasShown: Traces
    /// The tasks that pass on frames. They are cancelled here, because a scenario that fails leaves them running.
    private let pumps = NIOLockedValueBox<[Task<Void, Never>]>([])

    public init(base: any SocketTransport, defect: Defect, hasShown: Traces) {
        self.base = base
        self.defect = defect
        self.hasShown = hasShown
    }

    public func open(_ url: URL, headers: HTTPFields, maximumMessageSize: Int) async throws -> any Socket {
        let socket = try await base.open(url, headers: headers, maximumMessageSize: maximumMessageSize)
        let defective = DefectiveSocket(base: socket, defect: defect.socket(), hasShown: hasShown)
        pumps.withLockedValue { $0.append(Task { await defective.pump() }) }
        return defective
    }

    public func end() { pumps.withLockedValue { for pump in $0 { pump.cancel() } } }

    private struct DefectiveSocket: Socket {
        let base: any Socket
        let defect: SocketDefect
        let hasShown: Traces
        private let messages: AsyncThrowingStream<SocketMessage, any Error>
        private let incoming: AsyncThrowingStream<SocketMessage, any Error>.Continuation

        init(base: any Socket, defect: SocketDefect, hasShown: Traces) {
            self.base = base
            self.defect = defect
            self.hasShown = hasShown
            (messages, incoming) = AsyncThrowingStream<SocketMessage, any Error>.makeStream()
        }

        func pump() async {
            do {
                while true {
                    let message = try await base.receive()
                    guard case .text(let text) = message else {
                        incoming.yield(message)
                        continue
                    }
                    let heard = defect.received(text)
                    if heard != [text] || defect.isBinary { hasShown.withLockedValue { $0 = true } }
                    for text in heard {
                        incoming.yield(defect.isBinary ? .binary(Array(text.utf8)) : .text(text))
                    }
                    if let closed = defect.closesAfter(text) {
                        hasShown.withLockedValue { $0 = true }
                        return incoming.finish(throwing: closed)
                    }
                }
            } catch let closed as SocketClosed {
                let heard = defect.closed(closed)
                if heard != closed { hasShown.withLockedValue { $0 = true } }
                if let heard { incoming.finish(throwing: heard) }
            } catch {
                incoming.finish(throwing: error)
            }
        }

        func send(_ text: String) async throws {
            let (forwarded, replies) = await defect.sent(text)
            if forwarded != [text] || !replies.isEmpty { hasShown.withLockedValue { $0 = true } }
            for reply in replies { incoming.yield(.text(reply)) }
            for text in forwarded { try await base.send(text) }
        }

        func receive() async throws -> SocketMessage {
            // Iterators of one stream share its buffer.
            for try await message in messages { return message }
            throw SocketClosed(code: 1006)
        }

        func ping() async throws { try await base.ping() }

        func close(code: UInt16, reason: String) async {
            await base.close(code: code, reason: reason)
        }
    }
}

extension TransportRequest {
    fileprivate func isSame(as other: TransportRequest) -> Bool {
        method == other.method && url == other.url && headers == other.headers && bytes == other.bytes
    }

    private var bytes: [UInt8] { if case .bytes(let bytes) = body { bytes } else { [] } }
}

extension TransportResponse {
    fileprivate func isSame(as other: TransportResponse) -> Bool {
        status == other.status && headers == other.headers && body == other.body
    }
}
