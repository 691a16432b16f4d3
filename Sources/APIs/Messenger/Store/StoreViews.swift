import ContractClient
import Foundation
import MessengerAPI
import MessengerClient

/// What the observable objects read from the engine.
extension StoreEngine {
    /// What an app shows of one chat.
    package struct ChatView: Sendable {
        package var chat: StoredChat?
        package var messages: [StoredMessage] = []
        package var outgoing: [OutgoingMessage] = []
        package var members: [Messenger.Member] = []
        package var typing: [Messenger.User.ID] = []
        package var marks: [Messenger.User.ID: Messenger.Message.ID] = [:]
        package var hasOlder = true
        /// Grows with each view, so that an earlier one that arrives later is recognized.
        package var number = 0
    }

    /// Begins to show a chat: it is brought up to date before those that are not shown.
    package func show(_ chat: Messenger.Chat.ID) {
        open[chat, default: 0] += 1
        need([.changes, .marks, .members], of: chat)
    }

    /// Ends to show a chat.
    package func hide(_ chat: Messenger.Chat.ID) {
        let count = open[chat, default: 1] - 1
        open[chat] = count > 0 ? count : nil
    }

    /// Returns the chats, those with the newest messages first.
    package func chats() -> [StoredChat] {
        var chats: [StoredChat] = []
        attempt { chats = try cache.chats() }
        return chats
    }

    /// Returns the newest messages of a chat with everything around them.
    package func view(of chat: Messenger.Chat.ID, limit: Int) -> ChatView {
        var view = ChatView()
        viewsMade += 1
        view.number = viewsMade
        attempt {
            let page = try cache.page(of: chat, limit: limit)
            view.chat = try cache.chats(chat).first
            (view.messages, view.hasOlder) = (page.messages, page.hasOlder)
            view.members = try cache.members(of: chat)
            view.marks = try cache.marks(in: chat)
            view.typing = typing[chat, default: [:]].keys.sorted()
            view.outgoing = shown(try outbox.entries(in: chat), beside: page.messages)
        }
        return view
    }

    /// Returns what is on its way. A message that has arrived before the answer to its send is shown once.
    private func shown(_ entries: [MessageOutbox.Entry], beside messages: [StoredMessage]) -> [OutgoingMessage] {
        var own = messages.filter { $0.sender == user }
        return entries.compactMap { entry in
            if let after = entry.after, ["sending", "sent"].contains(entry.state),
                let arrived = own.firstIndex(where: {
                    $0.id > after && $0.content == entry.content && $0.type == entry.type
                        && (entry.fileKey == nil ? $0.file == nil : entry.file == nil || $0.file == entry.file)
                })
            {
                own.remove(at: arrived)
                return nil
            }
            return OutgoingMessage(
                id: entry.id, chat: entry.chat, content: entry.content, type: entry.type, filename: entry.filename,
                contentType: entry.contentType, location: entry.fileKey.map(places.copy),
                createdAt: Date(timeIntervalSince1970: Double(entry.createdAt) / 1000), state: state(of: entry),
                progress: uploads[entry.id]?.fraction)
        }
    }

    private func state(of entry: MessageOutbox.Entry) -> OutgoingMessage.State {
        if let message = entry.message { return .sent(message) }
        switch entry.state {
        case "sending": return .sending
        case "failed": return .failed(entry.failure ?? OutgoingFailure(CocoaError(.coderReadCorrupt)))
        default: return .waiting
        }
    }

    /// Returns the downloads in progress.
    package func transfers() -> [Messenger.File.ID: TransferProgress] { downloaded }

    /// Tells the other members of a chat that the user is typing.
    package func startTyping(in chat: Messenger.Chat.ID) async { await live.startTyping(in: chat) }
}
