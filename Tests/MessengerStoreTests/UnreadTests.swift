import Foundation
import GRDB
import MessengerAPI
import Testbed
import Testing

@testable import MessengerStore

/// The number of unread messages while a part of a chat is known.
@Suite(.timeLimit(.minutes(10))) struct UnreadTests {
    private static let chat = Messenger.Chat.ID(7)
    private static let listed: Int64 = 1_771_840_800_000

    private func message(_ id: Int64, _ content: String, at time: Int64 = listed) -> Messenger.Message {
        .init(
            id: .init(id), chat: Self.chat, sender: .init(2), content: content, type: .text, file: nil,
            createdAt: .init(milliseconds: time))
    }

    private func withCache(_ body: (ChatCache, () throws -> Int?) throws -> Void) async throws {
        try await withTemporaryFolder { path in
            let file = URL(fileURLWithPath: path).appendingPathComponent("cache.sqlite")
            let cache = try ChatCache(at: file, user: 1, Configuration())
            try body(cache) { try cache.chats(Self.chat).first?.unreadCount }
        }
    }

    private func list(_ cache: ChatCache, unread: Int, last: String, at time: Int64 = listed) throws {
        _ = try cache.apply([
            .init(
                id: Self.chat, type: .group, name: "Seven", updatedAt: .init(milliseconds: time), lastMessage: last,
                unreadCount: unread)
        ])
    }

    /// A page of a chat has messages that the list of chats has counted already.
    @Test func aPageIsNotCountedTwice() async throws {
        try await withCache { cache, unread in
            try list(cache, unread: 3, last: "Three")
            #expect(try unread() == 3)
            let older = message(41, "One", at: Self.listed - 1000)
            try cache.begin(Self.chat, page: [message(43, "Three"), message(42, "Two"), older], version: nil)
            #expect(try unread() == 3)
        }
    }

    /// Ids are the server's, which may be broken: the greatest and the smallest one do not end the app.
    @Test(arguments: [Int64.max, .min]) func theEndsOfTheNumbersAreIds(_ id: Int64) async throws {
        try await withCache { cache, unread in
            try list(cache, unread: 1, last: "One")
            try cache.begin(Self.chat, page: [message(id, "One")], version: nil)
            _ = try cache.isSelfContained(Self.chat)
            try cache.add([], before: .init(id), to: Self.chat)
            try cache.begin(Self.chat, page: [message(id, "One")], version: nil)
            #expect(try cache.receive(message(.max, "Two")))
            #expect(try unread() != nil)
        }
    }

    /// A message of the same second that is newer than the listed one counts, and so does one that arrives later.
    @Test func whatIsNewerThanTheListCounts() async throws {
        try await withCache { cache, unread in
            try list(cache, unread: 2, last: "Two")
            let page = [message(43, "Three"), message(42, "Two"), message(41, "One")]
            try cache.begin(Self.chat, page: page, version: nil)
            #expect(try unread() == 3)
            #expect(try cache.receive(message(44, "Four", at: Self.listed + 5000)))
            #expect(try unread() == 4)
            try list(cache, unread: 4, last: "Four", at: Self.listed + 5000)
            #expect(try unread() == 4)
            #expect(try cache.receive(message(45, "Five", at: Self.listed + 6000)))
            #expect(try unread() == 5)
        }
    }
}
