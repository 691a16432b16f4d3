import ContractClient
import Foundation
import HTTPTypes
import MessengerClient
import NIOConcurrencyHelpers
import Testing

extension MessengerLive.Iterator {
    /// Returns a description of the next event; of a message, its content.
    func words() async throws -> String {
        switch try #require(try await next()) {
        case .connected: "connected"
        case .disconnected(let reason, _): "disconnected: \(reason)"
        case .subscribed(let chat): "subscribed \(chat)"
        case .unsubscribed(let chat): "unsubscribed \(chat)"
        case .refused(let chat, let reason, _): "refused \(chat): \(reason)"
        case .message(let message): message.content
        case .update(let frame): "\(frame)"
        case .chatAdded(let chat): "added \(chat)"
        case .chatRemoved(let chat): "removed \(chat)"
        case .chatsChanged: "chats changed"
        }
    }

    func expect(_ expected: String..., sourceLocation: SourceLocation = #_sourceLocation) async throws {
        for expected in expected {
            let found = try await words()
            #expect(found == expected, sourceLocation: sourceLocation)
        }
    }
}

/// A socket transport between the SDK and its sockets, which records sent frames and changes received ones.
final class Interposed: SocketTransport {
    private let sockets: any SocketTransport
    private let injected = NIOLockedValueBox<[String]>([])
    private let rule = NIOLockedValueBox<@Sendable (String) -> String?> { $0 }
    private let sentRule = NIOLockedValueBox<@Sendable (String) -> String> { $0 }
    private let links = NIOLockedValueBox<[any Socket]>([])
    private let frames = NIOLockedValueBox<[String]>([])
    private let log = AsyncStream<String>.makeStream()
    private let replacement = NIOLockedValueBox<(frame: String, matches: @Sendable (String) -> Bool)?>(nil)

    init(_ sockets: any SocketTransport) { self.sockets = sockets }

    /// The frames that were sent so far.
    var sentFrames: [String] { frames.withLockedValue { $0 } }

    /// Sets a rule that changes the server's frames; nil drops a frame.
    func rewrite(_ rule: @escaping @Sendable (String) -> String?) { self.rule.withLockedValue { $0 = rule } }

    /// Adds a frame before the server's next one.
    func inject(_ frame: String) { injected.withLockedValue { $0.append(frame) } }

    /// Replaces the first sent frame that matches.
    func replaceOnce(_ frame: String, where matches: @escaping @Sendable (String) -> Bool) {
        replacement.withLockedValue { $0 = (frame, matches) }
    }

    /// Sets a rule that changes the client's frames.
    func rewriteSent(_ rule: @escaping @Sendable (String) -> String) { self.sentRule.withLockedValue { $0 = rule } }

    /// Makes the server one of the contract alone, which ignores `since`.
    func forgetSince() {
        rewriteSent { $0.replacing(#/,"since":-?\d+|"since":-?\d+,/#, with: "") }
    }

    /// Ends the open sockets, as a network does.
    func drop() async {
        let links = links.withLockedValue { links in
            defer { links = [] }
            return links
        }
        for link in links { await link.close(code: 1000, reason: "") }
    }

    /// Waits for a sent frame that matches.
    func sent(where matches: (String) -> Bool) async -> String {
        for await frame in log.stream where matches(frame) { return frame }
        return ""
    }

    func open(_ url: URL, headers: HTTPFields, maximumMessageSize: Int) async throws -> any Socket {
        let socket = try await sockets.open(url, headers: headers, maximumMessageSize: maximumMessageSize)
        links.withLockedValue { $0.append(socket) }
        return Link(socket: socket, between: self)
    }

    private struct Link: Socket {
        let socket: any Socket
        let between: Interposed

        func send(_ text: String) async throws {
            let text = between.sentRule.withLockedValue { $0 }(text)
            between.log.continuation.yield(text)
            between.frames.withLockedValue { $0.append(text) }
            let replacement = between.replacement.withLockedValue { replacement -> String? in
                guard let (frame, matches) = replacement, matches(text) else { return nil }
                replacement = nil
                return frame
            }
            try await socket.send(replacement ?? text)
        }

        func receive() async throws -> SocketMessage {
            let injected = between.injected.withLockedValue { $0.isEmpty ? nil : $0.removeFirst() }
            if let injected { return .text(injected) }
            while true {
                guard case .text(let text) = try await socket.receive() else { continue }
                if let text = between.rule.withLockedValue({ $0 })(text) { return .text(text) }
            }
        }

        func ping() async throws { try await socket.ping() }
        func close(code: UInt16, reason: String) async { await socket.close(code: code, reason: reason) }
    }
}
