import Foundation
import MessengerClient
import Testbed

// The samples of Messages.md.

// sample
struct Draft: Codable {
    var key = UUID().uuidString
    var chat: Messenger.Chat.ID
    var text: String
}

func deliver(_ draft: Draft, with messenger: MessengerClient) async throws -> Messenger.Message.ID {
    let message = Messenger.SendMessage(chat: draft.chat, content: draft.text)
    return try await messenger.send(message, idempotencyKey: draft.key).id
}
// end

enum MessagesSamples {
    static func open(
        _ messenger: MessengerClient,
        then: (_ direct: Messenger.Chat.ID, _ group: Messenger.Chat.ID) async throws -> Void
    ) async throws {
        // sample
        let found = try await messenger.send(Messenger.SearchUsers("bob"))
        guard let bob = found.first else { return }

        let chat = try await messenger.send(Messenger.CreateChat.direct(with: bob.id))
        let team = try await messenger.send(Messenger.CreateChat.group("Team Alpha", members: [bob.id]))
        // end
        try await then(chat.id, team.id)
    }

    static func send(_ messenger: MessengerClient, chat id: Messenger.Chat.ID) async throws -> Messenger.SentMessage {
        let chat = Identified(id)
        // sample
        let sent = try await messenger.send(Messenger.SendMessage(chat: chat.id, content: "Hello!"))
        print("Message \(sent.id), at \(sent.createdAt.date)")
        // end
        return sent
    }

    static func read(
        _ messenger: MessengerClient, chat id: Messenger.Chat.ID
    ) async throws -> (page: [Messenger.Message], older: [Messenger.Message]) {
        let chat = Identified(id)
        // sample
        let page = try await messenger.send(Messenger.ListMessages(chat: chat.id, limit: 50))
        let older = try await messenger.send(Messenger.ListMessages(chat: chat.id, limit: 50, before: page.last?.id))
        // end
        return (page, older)
    }

    static func unread(
        _ messenger: MessengerClient, chat id: Messenger.Chat.ID, lastRead: Messenger.Message.ID,
        print: (String) -> Void
    ) async throws {
        let chat = Identified(id)
        // sample
        for try await message in messenger.history(of: chat.id) {
            guard message.id > lastRead else { break }
            print(message.content)
        }
        // end
    }

    static func change(_ messenger: MessengerClient, sent: Messenger.SentMessage) async throws {
        // sample
        let edited = try await messenger.send(
            Messenger.EditMessage(chat: sent.chat, message: sent.id, content: "Hello, everybody!"))
        try await messenger.send(Messenger.DeleteMessage(chat: edited.chat, message: edited.id))
        // end
    }

    static func badge(
        _ messenger: MessengerClient, chat id: Messenger.Chat.ID, newest message: Messenger.Message.ID
    ) async throws -> Int {
        let (chat, newest) = (Identified(id), Identified(message))
        // sample
        try await messenger.send(Messenger.MarkRead(chat: chat.id, message: newest.id))

        let chats = try await messenger.send(Messenger.ListChats(include: .unread))
        let badge = chats.reduce(0) { $0 + ($1.unreadCount ?? 0) }
        // end
        return badge
    }

    static func keepAway(
        _ messenger: MessengerClient, message: Messenger.Message
    ) async throws -> [Messenger.UserSummary] {
        // sample
        try await messenger.send(Messenger.BlockUser(message.sender))
        try await messenger.send(Messenger.CreateReport(message: message.id, reason: "spam"))

        let blocked = try await messenger.send(Messenger.ListBlocks())
        // end
        return blocked
    }

    static func list(
        _ messenger: MessengerClient, me id: Messenger.User.ID, print: (String, String, Int) -> Void
    ) async throws {
        let me = Identified(id)
        // sample
        for try await chat in messenger.chats(including: .all(.peer, .newest, .unread)) {
            let title = chat.name ?? chat.peer?.displayName ?? "Deleted account"
            let sender = chat.newestMessage?.sender == me.id ? "You: " : ""
            print(title, sender + (chat.lastMessage ?? "nothing yet"), chat.unreadCount ?? 0)
        }
        // end
    }
}
