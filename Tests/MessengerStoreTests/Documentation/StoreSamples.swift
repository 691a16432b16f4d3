import Foundation
import MessengerClient
import MessengerStore
import Testbed

// The samples of MessengerStore.md, and of the comments of the store.

@MainActor enum StoreSamples {
    static func open(
        _ messenger: MessengerClient, in folder: URL, show: (String, String, Int) -> Void
    ) async throws -> MessengerStore {
        // sample
        let store = try await MessengerStore.open(messenger, in: folder)
        for chat in store.chats.all { show(chat.title ?? "", chat.lastMessage ?? "", chat.unreadCount) }
        // end
        return store
    }

    static func comment(_ messenger: MessengerClient, in folder: URL, id: Messenger.Chat.ID) async throws
        -> MessengerStore
    {
        // sample
        let store = try await MessengerStore.open(messenger, in: folder)
        for chat in store.chats.all { print(chat.title ?? "", chat.unreadCount) }

        let chat = store.chat(id)
        try await chat.send("Hello!")
        // end
        return store
    }

    static func chat(
        _ store: MessengerStore, id: Messenger.Chat.ID, show: (String, Any) -> Void
    ) async throws -> ChatState {
        // sample
        let chat = store.chat(id)
        for message in chat.messages { show(message.content, message.followsGap) }
        for message in chat.outgoing { show(message.content, message.state) }
        try await chat.loadOlder()
        await chat.markRead()
        // end
        return chat
    }

    static func write(_ chat: ChatState, photo: URL) async throws {
        // sample
        try await chat.send("Hello!")
        try await chat.send(Upload(fileAt: photo), caption: "Look!")
        // end
    }

    static func retry(_ chat: ChatState, show: (String, String) -> Void) async throws {
        // sample
        for message in chat.outgoing {
            guard case .failed(let failure) = message.state else { continue }
            show(failure.errorDescription ?? "", failure.recoverySuggestion ?? "")
            try await chat.retry(message.id)
        }
        // end
    }

    static func picture(_ store: MessengerStore, file id: Messenger.File.ID) async throws -> URL {
        let file = Identified(id)
        // sample
        let picture = try await store.files.url(of: file.id)
        // end
        return picture
    }

    static func signOut(_ store: MessengerStore) async throws {
        // sample
        try await store.signOut()
        // end
    }
}
