import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import MessengerCheck
import NIOConcurrencyHelpers
import Testing

/// A server that breaks one promise: the real one, behind something that changes requests, answers or frames.
struct Mutant: Sendable, CustomTestStringConvertible {
    let name: String
    /// The clause whose scenarios must notice.
    let clause: String
    /// Only that something does not come shows it. What waits for it must run into its time limit.
    let isSilent: Bool
    /// Puts the defect in front of a server, with a memory of its own.
    let make: @Sendable () -> Defect

    init(_ name: String, _ clause: String, isSilent: Bool = false, _ make: @escaping @Sendable () -> Defect) {
        self.name = name
        self.clause = clause
        self.isSilent = isSilent
        self.make = make
    }

    var testDescription: String { "\(clause): \(name)" }

    var scenarios: [Scenario<MessengerWorld>] { MessengerScenarios.all.filter { $0.clause == clause } }
}

/// What a defect does to the traffic.
struct Defect: Sendable {
    /// Sends a request to the server behind.
    typealias Forward = @Sendable (TransportRequest) async throws -> TransportResponse

    var exchange: @Sendable (TransportRequest, Forward) async throws -> TransportResponse = { try await $1($0) }
    /// For each new socket.
    var socket: @Sendable () -> SocketDefect = { SocketDefect() }
}

/// What a defect does to the frames of one socket.
struct SocketDefect: Sendable {
    /// A client's frame: what the server gets instead, and what the client hears at once.
    var sent: @Sendable (String) async -> (forwarded: [String], replies: [String]) = { ([$0], []) }
    /// A server's frame: what the client hears instead.
    var received: @Sendable (String) -> [String] = { [$0] }
    /// What the client hears comes as binary.
    var isBinary = false
    /// The end: nil keeps it from the client.
    var closed: @Sendable (SocketClosed) -> SocketClosed? = { $0 }
    /// After a frame of the server: whether the client hears that the socket closed.
    var closesAfter: @Sendable (String) -> SocketClosed? = { _ in nil }
}

/// Notes whether a defect has shown at all: one that never does proves nothing.
typealias Traces = NIOLockedValueBox<Bool>

/// A server's HTTP side with a defect in front.
struct DefectiveTransport: Transport {
    let base: any Transport
    let defect: Defect
    let hasShown: Traces

    func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
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

/// A server's sockets with a defect in front.
struct DefectiveSockets: SocketTransport {
    let base: any SocketTransport
    let defect: Defect
    let hasShown: Traces
    /// They outlive scenarios that fail.
    let pumps = NIOLockedValueBox<[Task<Void, Never>]>([])

    func open(_ url: URL, headers: HTTPFields, maximumMessageSize: Int) async throws -> any Socket {
        let socket = try await base.open(url, headers: headers, maximumMessageSize: maximumMessageSize)
        let defective = DefectiveSocket(base: socket, defect: defect.socket(), hasShown: hasShown)
        pumps.withLockedValue { $0.append(Task { await defective.pump() }) }
        return defective
    }

    func end() { pumps.withLockedValue { for pump in $0 { pump.cancel() } } }

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
            // Iterators of one stream share what is in it.
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
