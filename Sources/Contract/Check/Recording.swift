import ContractClient
import Foundation
import HTTPTypes

/// A request, and its answer if one came.
public struct Exchange: Sendable {
    public let request: TransportRequest
    public internal(set) var response: TransportResponse?

    public init(request: TransportRequest, response: TransportResponse?) {
        self.request = request
        self.response = response
    }
}

/// The requests and frames between a scenario and the server, so that a failure can be shown as commands to repeat.
actor Recording {
    /// The messages of one socket.
    struct Conversation: Sendable {
        enum Line: Sendable, Equatable {
            case sent(String)
            case received(String)
            case closed(UInt16)
        }

        let url: URL
        /// The moment of opening, comparable to ``touched``.
        let opened: Int
        var lines: [Line] = []
        /// The moment of the last message, or of the last wait for one.
        var touched: Int
    }

    /// The number of events so far, which orders them.
    private var moment = 0
    private(set) var exchanges: [(exchange: Exchange, begun: Int)] = []
    private(set) var sockets: [Conversation] = []

    fileprivate func begin(_ request: TransportRequest) -> Int {
        moment += 1
        exchanges.append((Exchange(request: request, response: nil), moment))
        return exchanges.count - 1
    }

    fileprivate func end(_ index: Int, _ response: TransportResponse) { exchanges[index].exchange.response = response }

    fileprivate func open(_ url: URL) -> Int {
        moment += 1
        sockets.append(Conversation(url: url, opened: moment, touched: moment))
        return sockets.count - 1
    }

    fileprivate func touch(_ socket: Int) {
        moment += 1
        sockets[socket].touched = moment
    }

    fileprivate func note(_ line: Conversation.Line, on socket: Int) {
        touch(socket)
        sockets[socket].lines.append(line)
    }
}

/// Passes requests on, and records them.
struct RecordingTransport: Transport {
    let base: any Transport
    let recording: Recording

    func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
        let index = await recording.begin(request)
        let response = try await base.send(request, progress: progress)
        await recording.end(index, response)
        return response
    }
}

/// Passes frames on, and records them.
struct RecordingSockets: SocketTransport {
    let base: any SocketTransport
    let recording: Recording

    func open(_ url: URL, headers: HTTPFields, maximumMessageSize: Int) async throws -> any Socket {
        let index = await recording.open(url)
        let socket = try await base.open(url, headers: headers, maximumMessageSize: maximumMessageSize)
        return RecordedSocket(base: socket, index: index, recording: recording)
    }

    private struct RecordedSocket: Socket {
        let base: any Socket
        let index: Int
        let recording: Recording

        func send(_ text: String) async throws {
            await recording.note(.sent(text), on: index)
            try await base.send(text)
        }

        func receive() async throws -> SocketMessage {
            await recording.touch(index)
            do {
                let message = try await base.receive()
                switch message {
                case .text(let text): await recording.note(.received(text), on: index)
                case .binary(let bytes): await recording.note(.received("\(bytes.count) bytes of binary"), on: index)
                }
                return message
            } catch let closed as SocketClosed {
                await recording.note(.closed(closed.code), on: index)
                throw closed
            }
        }

        func ping() async throws { try await base.ping() }
        func close(code: UInt16, reason: String) async { await base.close(code: code, reason: reason) }
    }
}
