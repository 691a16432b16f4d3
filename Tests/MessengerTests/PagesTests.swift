import ContractCheck
import Database
import MessengerClient
import Testbed
import Testing

@testable import MessengerCheck

/// The SDK reads whole lists in pages, with the optional parts that an app asks for.
@Suite(.timeLimit(.minutes(30))) struct MessengerPagesTests {
    @Test(arguments: Stack.all)
    func historiesAndChatsCarryTheirOptionalParts(_ stack: Stack) async throws {
        try await withMessenger(on: stack) { host in
            let (alice, bob) = try await host.world().pair()
            let chat = try await alice.group(with: bob)
            let sent = try await alice.say(5, in: chat)
            try await alice.send(Messenger.EditMessage(chat: chat, message: sent[1].id, content: "edited"))
            var edited: [Messenger.Message.ID] = []
            var all: [Messenger.Message.ID] = []
            for try await message in bob.client.history(of: chat, including: .edited, pageSize: 2) {
                all.append(message.id)
                if message.editedAt != nil { edited.append(message.id) }
            }
            #expect(all == sent.map(\.id).reversed())
            #expect(edited == [sent[1].id])
            for _ in 0..<2 { _ = try await alice.group(with: bob) }
            var unread: [Int?] = []
            for try await chat in bob.client.chats(including: .unread, pageSize: 1) { unread.append(chat.unreadCount) }
            #expect(unread.count == 3)
            #expect(unread.compactMap(\.self).max() == 5)
        }
    }

    /// The list is in the same order in one answer, in pages, and where a user has more chats than one answer may have.
    @Test(arguments: Stack.Engine.available)
    func listsAreInOrderHoweverLongTheyAre(_ engine: Stack.Engine) async throws {
        try await withMessenger(on: Stack(engine, .inProcess)) { host in
            let (alice, _) = try await host.world().pair()
            let maximum = Messenger.ListChats.maximum
            func add(_ ids: ClosedRange<Int>) async throws {
                try await host.database.write { db in
                    for id in ids {
                        // Several chats have one second, and later chats are older.
                        let time = 1_000 * (5_000 - id / 4) + id % 3
                        try db.run(
                            """
                            INSERT INTO chats (id, type, name, owner_id, created_at, updated_at)
                            VALUES (\(id), 'group', 'Chat', \(alice.id), \(time), \(time))
                            """)
                        try db.run(
                            """
                            INSERT INTO members (chat_id, user_id, role, joined_at)
                            VALUES (\(id), \(alice.id), 'owner', \(time))
                            """)
                    }
                    try db.run(
                        """
                        INSERT INTO messages (chat_id, sender_id, content, type, created_at)
                        VALUES (\(ids.lowerBound), \(alice.id), 'older', 'text', 1),
                            (\(ids.lowerBound), \(alice.id), 'newest', 'text', 1)
                        """)
                }
            }
            func wanted(_ ids: ClosedRange<Int>) -> [Int] {
                ids.sorted { ($0 / 4, -$0) < ($1 / 4, -$1) }
            }
            for ids in [1...30, 31...maximum, maximum + 1...maximum + 6] {
                try await add(ids)
                let known = wanted(1...ids.upperBound).prefix(maximum)
                let found = try await alice.send(Messenger.ListChats())
                #expect(found.map { Int($0.id.rawValue) } == Array(known))
                let text = known.contains(ids.lowerBound) ? "newest" : nil
                #expect(found.first { $0.id.rawValue == ids.lowerBound }?.lastMessage == text)
                let unread = try await alice.send(Messenger.ListChats(include: .unread))
                #expect(unread.map(\.id) == found.map(\.id) && unread.allSatisfy { $0.unreadCount == 0 })
                let page = try await alice.send(Messenger.ListChats(limit: 7))
                #expect(page == Array(found.prefix(7)))
                let next = try await alice.send(Messenger.ListChats(limit: 7, before: page[6].id))
                #expect(next == Array(found.dropFirst(7).prefix(7)))
            }
        }
    }
}
