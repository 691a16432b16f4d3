import Contract
import ContractClient
import Foundation
import HTTPTypes
import MessengerAPI
import MessengerClient

/// The user's own edits and deletions. They are shown at once, sent at once, and undone if they fail.
extension StoreEngine {
    /// - Throws: The API's refusal, the network's error. The message then is as it was; if the answer alone was lost, the
    ///   edit appears later.
    package func edit(_ message: Messenger.Message.ID, in chat: Messenger.Chat.ID, to content: String) async throws {
        let request = Messenger.EditMessage(chat: chat, message: message, content: content)
        try checked(request)
        try show(message, in: chat, content: content, isDeletion: false)
        let before = changeCounts[chat, default: 0]
        do {
            let edited = try await client.send(request)
            if isStopped { throw CancellationError() }
            if before == changeCounts[chat, default: 0] {
                try cache.edit(message, in: chat, to: content, at: edited.editedAt?.milliseconds)
                changeCounts[chat, default: 0] += 1
            } else {
                // Something else was heard of the chat's messages, which may be newer than this answer. The text stays
                // until the chat's changes say what it is.
                confirmed[chat, default: []].insert(message)
                return need(.changes, of: chat)
            }
            try show(message, in: chat, content: nil, isDeletion: false)
        } catch {
            try undo(message, in: chat, after: error)
            throw error
        }
    }

    /// - Throws: The errors of ``edit(_:in:to:)``. A message that is already deleted is no error.
    package func delete(_ message: Messenger.Message.ID, in chat: Messenger.Chat.ID) async throws {
        try show(message, in: chat, content: nil, isDeletion: true)
        do {
            try await client.send(Messenger.DeleteMessage(chat: chat, message: message))
        } catch {
            if (error as? APIError)?.message != "Message not found" {
                try undo(message, in: chat, after: error)
                throw error
            }
        }
        if isStopped { throw CancellationError() }
        if let file = try cache.delete(message, in: chat) { forget([file]) }
        changed(chat)
    }

    private func show(
        _ message: Messenger.Message.ID, in chat: Messenger.Chat.ID, content: String?, isDeletion: Bool
    ) throws {
        try cache.setPending(message, in: chat, content: content, isDeletion: isDeletion)
        changed(chat)
    }

    private func undo(_ message: Messenger.Message.ID, in chat: Messenger.Chat.ID, after error: any Error) throws {
        guard !isStopped else { return }
        try show(message, in: chat, content: nil, isDeletion: false)
        // Whether the server has acted is among the chat's changes.
        if !(error is APIError) { need(.changes, of: chat) }
        handle(error)
    }
}
