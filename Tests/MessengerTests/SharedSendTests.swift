import Contract
import ContractCheck
import ContractClient
import Database
import HTTPTypes
import MessengerCheck
import MessengerClient
import MessengerService
import Testbed
import Testing

/// Messages that are sent at the same time share a transaction. Each is answered as if it were sent alone.
@Suite(.timeLimit(.minutes(30))) struct SharedSendTests {
    /// The people and chats of a test.
    private struct Cast: Sendable {
        let alice: Person
        let bob: Person
        let stranger: Person
        let groups: [Messenger.Chat.ID]
        let direct: Messenger.Chat.ID
        /// A direct chat of Alice with someone who has blocked her.
        let barred: Messenger.Chat.ID

        init(_ world: MessengerWorld) async throws {
            (alice, bob) = try await world.pair()
            stranger = try await world.person()
            let carol = try await world.person()
            groups = [try await alice.group(with: bob), try await alice.group(with: bob)]
            direct = try await alice.directChat(with: bob)
            barred = try await alice.directChat(with: carol)
            try await carol.send(Messenger.BlockUser(alice.id))
        }

        /// Sends a message. Of each eight, two are refused, and two have one key.
        func send(_ index: Int) async throws -> Sent {
            switch index % 8 {
            case 0: try await stranger.attempt(groups[0], "\(index)", "key \(index)")
            case 1: try await alice.attempt(barred, "\(index)", "key \(index)")
            case 2: try await bob.attempt(direct, "\u{2028}\"é😀 \(index)", "key \(index)")
            case 6, 7: try await bob.attempt(groups[0], "\(index / 8)", "common key \(index / 8)")
            default: try await (index.isMultiple(of: 2) ? alice : bob).attempt(groups[index % 2], "\(index)", nil)
            }
        }
    }

    /// An answer.
    fileprivate struct Sent: Sendable {
        var status: Int
        var message: Messenger.Message?
    }

    @Test(arguments: Stack.Engine.available)
    func everyMessageIsAnsweredAsIfItWereAlone(_ engine: Stack.Engine) async throws {
        try await withMessenger(on: Stack(engine, .inProcess)) { host async throws in
            let cast = try await Cast(host.world())
            let before = try await host.events()
            let answers = try await together(160, width: 32) { try await cast.send($0) }
            for (index, answer) in answers.enumerated() {
                #expect(answer.status == (index % 8 < 2 ? 403 : 201), "\(index)")
            }
            for index in stride(from: 6, to: 160, by: 8) {
                #expect(answers[index].message == answers[index + 1].message)
            }
            // A list has what was answered, down to the last field.
            var stored: [Messenger.Message] = []
            for chat in cast.groups + [cast.direct] { stored += try await check(chat, of: cast) }
            #expect(Set(stored).count == stored.count)
            #expect(Set(stored) == Set(answers.compactMap(\.message)))
            let refused = try await cast.alice.history(of: cast.barred)
            #expect(refused.isEmpty)
            // The numbers of the events have no holes.
            let events = try await host.events()
            #expect(events == before + stored.count)
        }
    }

    /// Compares what lists say of a chat with its history, and returns the history.
    private func check(_ chat: Messenger.Chat.ID, of cast: Cast) async throws -> [Messenger.Message] {
        let history = try await cast.alice.history(of: chat)
        let ids = history.map(\.id)
        #expect(ids == ids.sorted(by: >))
        let receipts = try await cast.alice.send(Messenger.GetReceipts(chat: chat))
        // The newest message of each sender is read by its sender.
        for person in [cast.alice, cast.bob] {
            let own = history.first { $0.sender == person.id }?.id
            #expect(receipts.first { $0.user == person.id }?.lastRead == own)
        }
        let list = try await cast.alice.send(Messenger.ListChats(include: .unread))
        let summary = try #require(list.first { $0.id == chat })
        let newest = try #require(history.first)
        #expect(summary.lastMessage == newest.content)
        let read = receipts.first { $0.user == cast.alice.id }?.lastRead ?? .init(0)
        let unread = history.filter { $0.id > read && $0.sender != cast.alice.id }.count
        #expect(summary.unreadCount == unread)
        return history
    }
}

extension MessengerHost {
    /// The number of events that the chats have counted.
    fileprivate func events() async throws -> Int {
        try await database.read { try $0.value("SELECT CAST(SUM(events) AS BIGINT) FROM chats", as: Int.self) ?? 0 }
    }
}

extension Person {
    fileprivate func attempt(
        _ chat: Messenger.Chat.ID, _ text: String, _ key: String?
    ) async throws -> SharedSendTests.Sent {
        let request = Messenger.SendMessage(chat: chat, content: text)
        do {
            let answer = try await client.answer(request, idempotencyKey: key)
            guard case .output(let sent) = answer.content else { return .init(status: 0) }
            #expect(sent.content == text && sent.chat == chat && sent.sender == id)
            return .init(status: 201, message: sent.message)
        } catch let error as APIError {
            return .init(status: error.status.code)
        }
    }

    fileprivate func history(of chat: Messenger.Chat.ID) async throws -> [Messenger.Message] {
        var messages: [Messenger.Message] = []
        for try await message in client.history(of: chat, pageSize: 100) { messages.append(message) }
        return messages
    }
}
