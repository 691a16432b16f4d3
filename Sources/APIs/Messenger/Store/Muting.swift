import ContractClient
import Foundation
import MessengerAPI
import MessengerClient

/// The muting of chats by the user.
extension StoreEngine {
    /// - Throws: The API's refusal, the network's error. The chat then is as it was.
    package func mute(_ chat: Messenger.Chat.ID, until end: Date?) async throws {
        let mute = Messenger.Mute(until: end.map { .init($0) })
        try await client.send(Messenger.MuteChat(chat: chat, until: mute.until))
        try show(mute, of: chat)
    }

    /// - Throws: The errors of ``mute(_:until:)``.
    package func unmute(_ chat: Messenger.Chat.ID) async throws {
        try await client.send(Messenger.UnmuteChat(chat: chat))
        try show(nil, of: chat)
    }

    private func show(_ mute: Messenger.Mute?, of chat: Messenger.Chat.ID) throws {
        if isStopped { throw CancellationError() }
        try cache.mute(chat, mute)
        signal.add(.chat(chat))
        signal.add(.list)
        // A list that is being read may be older.
        listChats()
    }
}
