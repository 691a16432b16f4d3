import Contract
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

/// Requests and sockets survive the loss of PostgreSQL at any point.
@Suite(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"), .timeLimit(.minutes(30)))
struct LostDatabaseTests {
    private static let stacks = Stack.Wire.allCases.map { Stack(.postgreSQL, $0) }

    /// The connection is lost after the commit was sent, so its outcome is unknown. The record of the idempotency key
    /// shows that it succeeded.
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

    /// The connection is lost before the commit arrives. The transaction is rolled back and runs again.
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

    /// The outcome cannot be determined without a key. The answer is 503, and the change may have been stored.
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
            // The database has received the commit, and may still be working on it.
            try await expectSoon("the message is not there") { try await contents(of: chat, alice) == ["once"] }
        }
    }

    /// The commit of an upload succeeds but its answer is lost: the stored file must stay.
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

    /// While the database is away, each request is refused at once. The process recovers without a restart.
    @Test(arguments: stacks)
    func aDatabaseThatIsAwayIs503UntilItReturns(_ stack: Stack) async throws {
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
            // An app retries after the time in `Retry-After`.
            let client = MessengerClient(
                baseURL: host.baseURL, store: MemoryTokenStore(alice.tokens), transport: host.transport,
                retry: Retry(attempts: 20))
            try await client.send(Messenger.SendMessage(chat: chat, content: "found"))
            #expect(try await contents(of: chat, alice) == ["found"])
            #expect(try await alice.raw(.get, "/ready").status == 200)
        }
    }

    /// A read is answered even if the end of its transaction fails.
    @Test(arguments: stacks)
    func aReadIsAnsweredAlthoughItsEndIsLost(_ stack: Stack) async throws {
        try await withFaultyDatabase(on: stack) { host, _, proxy in
            let alice = try await host.world().person()
            let cut = proxy.cutNextCommit(.cut)
            #expect(try await alice.raw(.get, "/chats").status == 200)
            #expect(cut.isDone)
        }
    }

    /// A node that missed events makes its sockets read what they missed.
    @Test(arguments: stacks)
    func aSocketReceivesWhatItsNodeMissed(_ stack: Stack) async throws {
        try await withFaultyDatabase(on: stack) { host, other, proxy in
            let alice = try await host.world().person()
            let chat = try await alice.send(Messenger.CreateChat.group("Team", members: [])).id
            let socket = try await alice.socket()
            try await socket.send(Messenger.Subscribe(chat: chat))
            #expect(try await socket.receive() == Messenger.Subscribed(chat: chat))
            let before = try await alice.send(Messenger.SendMessage(chat: chat, content: "before"))
            #expect(try await socket.receive() == before.message)

            proxy.refuse(true)
            let elsewhere = MessengerClient(
                baseURL: other.baseURL, store: MemoryTokenStore(alice.tokens), transport: other.transport)
            var expected: [Messenger.Message] = []
            for index in 0..<30 {
                let sent = try await elsewhere.send(Messenger.SendMessage(chat: chat, content: "\(index)"))
                if index == 20 { proxy.refuse(false) }
                expected.append(sent.message)
            }
            for message in expected { #expect(try await socket.receive() == message) }
        }
    }

    /// While the missed messages of one chat are being read, events of the other chats must not be lost.
    @Test(arguments: stacks)
    func manyChatsReceiveWhatTheyMissed(_ stack: Stack) async throws {
        try await withFaultyDatabase(on: stack) { host, other, proxy in
            let alice = try await host.world().person()
            var expected: [Messenger.Chat.ID: [Messenger.Message.ID]] = [:]
            let socket = try await alice.socket()
            for _ in 0..<8 {
                let chat = try await alice.send(Messenger.CreateChat.group("Team", members: [])).id
                try await socket.send(Messenger.Subscribe(chat: chat))
                #expect(try await socket.receive() == Messenger.Subscribed(chat: chat))
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
                // The node misses events until its listener has reconnected, and receives later ones. A cut that still
                // waits for the listener is not replaced.
                if index % 40 == 10, cuts.last?.isDone ?? true { cuts.append(proxy.cutNextAnnouncement()) }
            }
            var heard: [Messenger.Chat.ID: [Messenger.Message.ID]] = [:]
            while heard.mapValues(\.last) != expected.mapValues(\.last) {
                guard let message = try await socket.receive() as? Messenger.Message else { continue }
                heard[message.chat, default: []].append(message.id)
            }
            #expect(heard == expected)
            // The last cut stays undone if the listener was away until the end.
            let isCut = cuts[0].isDone
            #expect(isCut)
        }
    }

    /// The token is valid, so the socket must not say that it is not: the client would renew it needlessly.
    @Test(arguments: stacks)
    func aSocketThatCannotBeSignedInIsToldToRetry(_ stack: Stack) async throws {
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

    /// Runs a test on two nodes, of which the first reaches its database through a proxy.
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
    /// Applies an action to the next `COMMIT` only.
    ///
    /// - Parameter first: A text that must pass before it.
    fileprivate func cutNextCommit(_ action: Action, after first: String = "") -> Once {
        next(.toServer, "COMMIT", after: first, action)
    }

    /// Cuts the connection for events at the next event.
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
