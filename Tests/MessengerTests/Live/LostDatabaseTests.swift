import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import MessengerCheck
import MessengerClient
import NIOConcurrencyHelpers
import NIOCore
import Testbed
import Testing

/// A PostgreSQL that goes away in the middle of what is done with it.
@Suite(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"), .timeLimit(.minutes(30)))
struct LostDatabaseTests {
    private static let stacks = Stack.Wire.allCases.map { Stack(.postgreSQL, $0) }

    /// The connection is lost with the commit on its way: it is done, but nobody was told. The record under the key knows.
    @Test(arguments: stacks)
    func aCommitOfUnknownOutcomeIsResolvedByTheKey(_ stack: Stack) async throws {
        try await withFaultyDatabase(on: stack) { host, _, proxy in
            let alice = try await host.world().person()
            let chat = try await alice.send(Messenger.CreateChat.group("Team", members: [])).id
            let cut = proxy.cutNextCommit(.forwardAndCut)
            let answer = try await alice.client.answer(
                Messenger.SendMessage(chat: chat, content: "once"), idempotencyKey: "a key")
            #expect(cut.isDone)
            #expect(answer.status == .created)
            #expect(try await contents(of: chat, alice) == ["once"])
        }
    }

    /// The connection is lost before the commit arrives: it is not done, and is done again.
    @Test(arguments: stacks)
    func aCommitThatNeverArrivedIsRepeated(_ stack: Stack) async throws {
        try await withFaultyDatabase(on: stack) { host, _, proxy in
            let alice = try await host.world().person()
            let chat = try await alice.send(Messenger.CreateChat.group("Team", members: [])).id
            let cut = proxy.cutNextCommit(.cut)
            try await alice.send(Messenger.SendMessage(chat: chat, content: "once"))
            #expect(cut.isDone)
            #expect(try await contents(of: chat, alice) == ["once"])
        }
    }

    /// Without a key nobody knows, and nobody guesses: 503, and what the server did stands.
    @Test(arguments: stacks)
    func withoutAKeyAnUnknownOutcomeIsNotGuessed(_ stack: Stack) async throws {
        try await withFaultyDatabase(on: stack) { host, _, proxy in
            let alice = try await host.world().person()
            let chat = try await alice.send(Messenger.CreateChat.group("Team", members: [])).id
            let cut = proxy.cutNextCommit(.forwardAndCut)
            let answer = try await alice.raw(.post, "/chats/\(chat)/messages", body: #"{"content":"once"}"#)
            #expect(answer.status == 503)
            #expect(answer.headers[.retryAfter] == "1")
            #expect(answer.text == #"{"error":"Service temporarily unavailable"}"#)
            #expect(cut.isDone)
            #expect(try await contents(of: chat, alice) == ["once"])
        }
    }

    /// The same with a file: the row is there, so what is stored has to be.
    @Test(arguments: stacks)
    func aFileWhoseCommitIsOfUnknownOutcomeIsKept(_ stack: Stack) async throws {
        try await withFaultyDatabase(on: stack) { host, _, proxy in
            let alice = try await host.world().person()
            let cut = proxy.cutNextCommit(.forwardAndCut, after: "INSERT INTO files")
            let file = try await alice.client.upload(Upload(.bytes(Array("bytes".utf8)), filename: "a.txt")).id
            #expect(cut.isDone)
            let content = try await alice.client.download(file)
            #expect(content == Array("bytes".utf8))
        }
    }

    /// While it is away every request is told so at once; when it is back the process goes on by itself.
    @Test(arguments: stacks)
    func aServerThatIsAwayIs503AndComesBack(_ stack: Stack) async throws {
        try await withFaultyDatabase(on: stack) { host, _, proxy in
            let alice = try await host.world().person()
            let chat = try await alice.send(Messenger.CreateChat.group("Team", members: [])).id
            proxy.refuse(true)
            let answers = try await withThrowingTaskGroup(of: RawAnswer.self) { group in
                for index in 0..<50 {
                    group.addTask {
                        index.isMultiple(of: 2)
                            ? try await alice.raw(.get, "/chats")
                            : try await alice.raw(.post, "/chats/\(chat)/messages", body: #"{"content":"lost"}"#)
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for answer in answers {
                #expect(answer.status == 503)
                #expect(answer.headers[.retryAfter] != nil)
                #expect(answer.text == #"{"error":"Service temporarily unavailable"}"#)
            }
            let health = try await alice.raw(.get, "/ready")
            #expect(health.status == 503)
            proxy.refuse(false)
            // As an app does: again, after what `Retry-After` says.
            let client = MessengerClient(
                baseURL: host.baseURL, store: MemoryTokenStore(alice.tokens), transport: host.transport,
                retry: Retry(attempts: 20))
            try await client.send(Messenger.SendMessage(chat: chat, content: "found"))
            #expect(try await contents(of: chat, alice) == ["found"])
            #expect(try await alice.raw(.get, "/ready").status == 200)
        }
    }

    /// A read has its answer when its transaction ends badly.
    @Test(arguments: stacks)
    func aReadWhoseEndIsLostIsAnswered(_ stack: Stack) async throws {
        try await withFaultyDatabase(on: stack) { host, _, proxy in
            let alice = try await host.world().person()
            let cut = proxy.cutNextCommit(.cut)
            #expect(try await alice.raw(.get, "/chats").status == 200)
            #expect(cut.isDone)
        }
    }

    /// A node that heard nothing for a while lets its sockets look for themselves.
    @Test(arguments: stacks)
    func aSocketIsBroughtWhatWasAnnouncedWhileItsNodeWasDeaf(_ stack: Stack) async throws {
        try await withFaultyDatabase(on: stack) { host, other, proxy in
            let alice = try await host.world().person()
            let chat = try await alice.send(Messenger.CreateChat.group("Team", members: [])).id
            let socket = try await alice.socket()
            try await socket.send(.subscribe(chat))
            #expect(try await socket.receive() == .subscribed(chat))
            let before = try await alice.send(Messenger.SendMessage(chat: chat, content: "before"))
            #expect(try await socket.receive() == .message(before.message))

            proxy.refuse(true)
            let elsewhere = MessengerClient(
                baseURL: other.baseURL, store: MemoryTokenStore(alice.tokens), transport: other.transport)
            var expected: [Messenger.Message] = []
            for index in 0..<30 {
                let sent = try await elsewhere.send(Messenger.SendMessage(chat: chat, content: "\(index)"))
                if index == 20 { proxy.refuse(false) }
                expected.append(sent.message)
            }
            for message in expected { #expect(try await socket.receive() == .message(message)) }
        }
    }

    /// While one chat's gap is being read, the others' wait; what is said in them meanwhile must not pass them by.
    @Test(arguments: stacks)
    func manyChatsAreBroughtWhatTheyMissed(_ stack: Stack) async throws {
        try await withFaultyDatabase(on: stack) { host, other, proxy in
            let alice = try await host.world().person()
            var expected: [Messenger.Chat.ID: [Messenger.Message.ID]] = [:]
            let socket = try await alice.socket()
            for _ in 0..<8 {
                let chat = try await alice.send(Messenger.CreateChat.group("Team", members: [])).id
                try await socket.send(.subscribe(chat))
                #expect(try await socket.receive() == .subscribed(chat))
                expected[chat] = []
            }
            let elsewhere = MessengerClient(
                baseURL: other.baseURL, store: MemoryTokenStore(alice.tokens), transport: other.transport)
            let chats = expected.keys.sorted()
            var cuts: [FaultyProxy.Once] = []
            for index in 0..<160 {
                let chat = chats[index % chats.count]
                let sent = try await elsewhere.send(Messenger.SendMessage(chat: chat, content: "\(index)"))
                expected[chat]?.append(sent.id)
                // The node is deaf until its listener is back, and hears what is said from then on.
                if index % 40 == 10 { cuts.append(proxy.cutNextAnnouncement()) }
            }
            var heard: [Messenger.Chat.ID: [Messenger.Message.ID]] = [:]
            while heard.mapValues(\.last) != expected.mapValues(\.last) {
                guard case .message(let message) = try await socket.receive() else { continue }
                heard[message.chat, default: []].append(message.id)
            }
            #expect(heard == expected)
            let allAreDone = cuts.allSatisfy { $0.isDone }
            #expect(allAreDone)
        }
    }

    /// Nothing is wrong with the token: who is told so would renew it for nothing.
    @Test(arguments: stacks)
    func aSocketThatCannotBeSignedInIsToldToComeAgain(_ stack: Stack) async throws {
        try await withFaultyDatabase(on: stack) { host, _, proxy in
            let alice = try await host.world().person()
            proxy.refuse(true)
            host.clock.advance(by: .seconds(1))
            await #expect(throws: SocketClosed(code: 1013, reason: "Service temporarily unavailable")) {
                _ = try await alice.socket()
            }
        }
    }

    private func contents(of chat: Messenger.Chat.ID, _ person: Person) async throws -> [String] {
        var contents: [String] = []
        for try await message in person.client.history(of: chat) { contents.append(message.content) }
        return contents
    }

    /// A node that reaches its database through a proxy, and one that does not need it.
    private func withFaultyDatabase(
        on stack: Stack, _ body: (_ host: MessengerHost, _ other: MessengerHost, FaultyProxy) async throws -> Void
    ) async throws {
        let url = try #require(Stack.postgreSQL.flatMap { URLComponents(string: $0) })
        try await FaultyProxy.running(to: try #require(url.port)) { proxy in
            try await withMessengerNodes(2, on: stack, behind: proxy) { nodes in
                try await body(nodes[0], nodes[1], proxy)
            }
        }
    }
}

extension FaultyProxy {
    /// Does this to the next `COMMIT`, and to nothing else.
    ///
    /// - Parameter first: Passes before it.
    fileprivate func cutNextCommit(_ action: Action, after first: String = "") -> Once {
        next(.toServer, "COMMIT", after: first, action)
    }

    /// Cuts the connection that listens, when it is to hear something.
    fileprivate func cutNextAnnouncement() -> Once { next(.toClient, "concord_messenger", .cut) }

    private func next(_ way: Direction, _ text: String, after first: String = "", _ action: Action) -> Once {
        let (before, once) = (Once(), Once())
        if first.isEmpty { _ = before.take() }
        setRule { direction, bytes in
            guard direction == way else { return .forward }
            let passing = String(buffer: bytes)
            if !before.isDone, passing.contains(first) { _ = before.take() }
            guard before.isDone, passing.contains(text) else { return .forward }
            return once.take() ? action : .forward
        }
        return once
    }

    fileprivate final class Once: Sendable {
        private let taken = NIOLockedValueBox(false)

        var isDone: Bool { taken.withLockedValue { $0 } }
        func take() -> Bool {
            taken.withLockedValue { taken in
                defer { taken = true }
                return !taken
            }
        }
    }
}
