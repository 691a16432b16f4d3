import ContractClient
import Foundation
import HTTPTypes
import NIOConcurrencyHelpers

/// A socket transport that records the frames of its sockets.
final class ListeningSockets: SocketTransport {
    private struct Opened {
        var urls: [URL] = []
        var headers: [HTTPFields] = []
    }

    private let base: any SocketTransport
    private let opened = NIOLockedValueBox(Opened())
    private let frames: AsyncStream<String>
    private let said: AsyncStream<String>.Continuation

    init(base: any SocketTransport) {
        self.base = base
        (frames, said) = AsyncStream<String>.makeStream()
    }

    var urls: [URL] { opened.withLockedValue { $0.urls } }
    var headers: [HTTPFields] { opened.withLockedValue { $0.headers } }

    /// Waits for the first frame of a client that meets a condition.
    func frame(_ isWanted: (String) -> Bool) async throws -> String? {
        for await frame in frames where isWanted(frame) { return frame }
        return nil
    }

    func open(_ url: URL, headers: HTTPFields, maximumMessageSize: Int) async throws -> any Socket {
        opened.withLockedValue { opened in
            opened.urls.append(url)
            opened.headers.append(headers)
        }
        let socket = try await base.open(url, headers: headers, maximumMessageSize: maximumMessageSize)
        return ListeningSocket(base: socket, said: said)
    }

    private struct ListeningSocket: Socket {
        let base: any Socket
        let said: AsyncStream<String>.Continuation

        func send(_ text: String) async throws {
            said.yield(text)
            try await base.send(text)
        }
        func receive() async throws -> SocketMessage { try await base.receive() }
        func ping() async throws { try await base.ping() }
        func close(code: UInt16, reason: String) async { await base.close(code: code, reason: reason) }
    }
}
