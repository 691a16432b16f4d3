import Foundation
import MessengerClient
import MessengerStore
import Testbed

// The samples of EverydayTasks.md.

@MainActor enum EverydaySamples {
    static func signIn(
        url: URL, name: String, password: String, show: (SessionState) -> Void
    ) async throws -> MessengerClient {
        // sample
        let messenger = MessengerClient(baseURL: url, store: KeychainTokenStore(service: "messenger"))
        if try await messenger.user == nil { try await messenger.signIn(username: name, password: password) }
        for await state in messenger.sessionStates { show(state) }
        // end
        return messenger
    }

    static func list(
        _ messenger: MessengerClient, in folder: URL, show: (String?, Messenger.File.ID?, String?, Int) -> Void
    ) async throws -> MessengerStore {
        // sample
        let store = try await MessengerStore.open(messenger, in: folder)
        for chat in store.chats.all { show(chat.title, chat.peer?.avatar, chat.lastMessage, chat.unreadCount) }
        // end
        return store
    }

    static func read(_ store: MessengerStore, id: Messenger.Chat.ID, show: (String) -> Void) async throws -> ChatState {
        // sample
        let chat = store.chat(id)
        for message in chat.messages { show(message.content) }
        try await chat.loadOlder()
        await chat.markRead()
        // end
        return chat
    }

    static func send(
        _ chat: ChatState, photo: URL, show: (String, OutgoingMessage.State, Double?) -> Void
    ) async throws {
        // sample
        try await chat.send("Hello!")
        try await chat.send(Upload(fileAt: photo), caption: "Look!")
        for message in chat.outgoing { show(message.content, message.state, message.progress) }
        // end
    }

    static func notify(
        _ messenger: MessengerClient, _ chat: ChatState, token: Data, tomorrow: Date, _ userInfo: [AnyHashable: Any],
        show: (Messenger.Chat.ID) -> Void
    ) async throws {
        // sample
        try await messenger.registerDevice(token: token, environment: .production)
        try await chat.mute(until: tomorrow)
        if let push = MessengerPush(userInfo: userInfo) { show(push.chat) }
        // end
    }
}
