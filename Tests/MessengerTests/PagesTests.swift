import ContractCheck
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
}
