import Contract
import ContractClient
import Foundation
import HTTPTypes
import MessengerClient
import MessengerMocks
import Testbed
import Testing

/// The mock implements the server's end of a live socket.
@Suite(.timeLimit(.minutes(30))) struct MockSocketTests {
    private let mock = MessengerMock()

    @Test func aSocketSignsInAndReceivesMessages() async throws {
        let messenger = mock.client()
        let socket = try await messenger.openSocket()
        #expect(socket.user == 1)
        mock.push("Before anybody listened")
        try await socket.send(Messenger.Subscribe(chat: 5))
        #expect(try await socket.receive() == Messenger.Subscribed(chat: 5))
        let sent = try await messenger.send(Messenger.SendMessage(chat: 5, content: "Hello?"))
        #expect(try await socket.receive() == sent.message)
        let pushed = mock.push("Hey!")
        #expect(pushed.sender == 2)
        #expect(pushed.id == 102)
        #expect(try await socket.receive() == pushed)
        try await socket.send(Messenger.Ping())
        #expect(try await socket.receive() == Messenger.Pong())
        mock.broadcast(Messenger.Resync(chat: 5))
        #expect(try await socket.receive() == Messenger.Resync(chat: 5))
        try await socket.send(Messenger.Unsubscribe(chat: 5))
        #expect(try await socket.receive() == Messenger.Unsubscribed(chat: 5))
        mock.push("Nobody listens")
        try await socket.send(Messenger.Ping())
        #expect(try await socket.receive() == Messenger.Pong())
        await socket.close()
    }

    @Test func aReconnectedSocketReceivesWhatItMissed() async throws {
        let messenger = mock.client()
        let first = try await messenger.openSocket()
        mock.dropSockets()
        await #expect(throws: SocketClosed(code: 1006)) { _ = try await first.receive() }
        let missed = [mock.push("One"), mock.push("Two")]
        let second = try await messenger.openSocket()
        try await second.send(Messenger.Subscribe(chat: 5, since: Messenger.Message.example.id))
        #expect(try await second.receive() == Messenger.Subscribed(chat: 5))
        for message in missed { #expect(try await second.receive() == message) }
    }

    @Test func aSetMessageReplacesOneWithItsID() async throws {
        let messenger = mock.client()
        var message = Messenger.Message.example
        message.content = "Edited"
        mock.push(message)
        message.id = 7
        mock.push(message)
        let history = try await messenger.send(Messenger.ListMessages(chat: 5))
        #expect(history.map(\.id) == [99, 7])
        #expect(history.map(\.content) == ["Edited", "Edited"])
    }

    @Test(
        arguments: [
            (Messenger.Subscribe(chat: 0), "Invalid chat_id"),
            (Messenger.Subscribe(chat: 5, since: -1), "Invalid since"),
            (Messenger.StartTyping(chat: 0), "Invalid chat_id"),
            (Messenger.StartTyping(chat: 5), "Not subscribed to this chat"),
            (Messenger.Subscribe(chat: 7), "Not a member of this chat"),
            (UnknownFrame(type: "dance"), "Unknown message type: dance"),
        ] as [(any Messenger.ClientFrame, String)])
    func aFrameIsRefusedInTheContractsWords(_ frame: any Messenger.ClientFrame, _ message: String) async throws {
        let socket = try await mock.client().openSocket()
        try await socket.send(frame)
        #expect(try await socket.receive() == Messenger.LiveError(message: message))
        try await socket.send(Messenger.Ping())
        #expect(try await socket.receive() == Messenger.Pong())
    }

    @Test func requestsWithoutASessionAreRefused() async throws {
        let url = mock.baseURL.appendingPathComponent("ws")
        for (text, message) in [
            (#"{"type":"ping"}"#, "Not authenticated"), ("{", "Invalid JSON"),
            (#"{"type":"auth","token":"ended"}"#, "Invalid or expired access token"),
        ] {
            mock.endSessions()
            let socket = try await mock.open(url, headers: [:], maximumMessageSize: 1000)
            try await socket.send(text)
            guard case .text(let answer) = try await socket.receive() else { return #expect(Bool(false), "no text") }
            #expect(try Messenger.serverFrames.decode(Data(answer.utf8)) == Messenger.LiveError(message: message))
            await #expect(throws: SocketClosed(code: 1008)) { try await socket.receive() }
        }
        let elsewhere = mock.baseURL.appendingPathComponent("elsewhere")
        await #expect(throws: SocketRefused.self) {
            try await mock.open(elsewhere, headers: [:], maximumMessageSize: 1000)
        }
    }

    @Test func anEndedSessionEndsItsSocket() async throws {
        let (phone, pad) = (mock.client(), mock.client())
        let (first, second) = (try await phone.openSocket(), try await pad.openSocket())
        try await phone.signOut()
        let ended = SocketClosed(code: 4001, reason: "Session ended")
        await #expect(throws: ended) { _ = try await first.receive() }
        try await second.send(Messenger.Ping())
        #expect(try await second.receive() == Messenger.Pong())
        mock.endSessions()
        await #expect(throws: ended) { _ = try await second.receive() }
    }
}

/// The reconnecting connection works with the mock, as in the preview and the tests of a live view.
@Suite(.timeLimit(.minutes(30))) struct LiveMockTests {
    private let mock = MessengerMock()

    /// Returns the texts of a number of messages.
    private func texts(_ count: Int, from live: MessengerLive) async throws -> [String] {
        var texts: [String] = []
        for try await event in live {
            if case .message(let message) = event { texts.append(message.content) }
            if texts.count == count { break }
        }
        return texts
    }

    @Test func theHistoryArrivesBeforeNewMessages() async throws {
        let live = mock.client().live()
        await live.subscribe(to: 5, since: 0)
        mock.push("Hey!")
        #expect(try await texts(2, from: live) == ["Hello!", "Hey!"])
        mock.push("And?")
        #expect(try await texts(1, from: live) == ["And?"])
    }

    @Test func missedMessagesArriveAfterReconnecting() async throws {
        let live = mock.client().live(pacing: .init(base: .zero))
        await live.subscribe(to: 5, since: 99)
        var heard: [String] = []
        for try await event in live {
            switch event {
            case .subscribed:
                mock.push("One")
            case .message(let message):
                heard.append(message.content)
                if message.content == "One" {
                    mock.offline()
                    mock.push("Two")
                }
            case .disconnected:
                mock.push("Three")
                mock.online()
            case .connected, .unsubscribed, .refused, .update, .chatAdded, .chatRemoved, .chatsChanged:
                break
            }
            if heard.count == 3 { break }
        }
        #expect(heard == ["One", "Two", "Three"])
    }

    @Test func anEndedSessionEndsTheSequence() async throws {
        let messenger = mock.client()
        let live = messenger.live(pacing: .init(base: .zero))
        await #expect(throws: SignedOut()) {
            for try await event in live {
                if case .connected = event { mock.endSessions() }
            }
        }
        #expect(try await messenger.user == nil)
    }

    @Test func aTokenThatExpiredIsRenewedOnTheWay() async throws {
        mock.expireAccessTokens()
        let messenger = mock.client()
        mock.expireAccessTokens()
        let live = messenger.live(pacing: .init(base: .zero))
        await live.subscribe(to: 5, since: 0)
        #expect(try await texts(1, from: live) == ["Hello!"])
        #expect(mock.requests(Messenger.Refresh.self).count == 1)
    }
}
