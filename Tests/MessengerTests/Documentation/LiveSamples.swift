import MessengerClient
import Testbed

// The samples of Live.md, and of MessengerLive's own documentation.

// sample
@MainActor
final class ChatModel {
    private(set) var messages: [Messenger.Message] = []
    private(set) var isConnected = false
    private let messenger: MessengerClient
    private let chat: Messenger.Chat.ID

    init(_ messenger: MessengerClient, chat: Messenger.Chat.ID) {
        self.messenger = messenger
        self.chat = chat
    }

    func run() async throws {
        messages = try await messenger.send(Messenger.ListMessages(chat: chat)).reversed()
        let live = messenger.live()
        await live.subscribe(to: chat, since: messages.last?.id ?? 0)
        for try await event in live {
            switch event {
            case .connected: isConnected = true
            case .disconnected: isConnected = false
            case .message(let message): messages.append(message)
            case .update(let edit as Messenger.MessageEdit): change(edit)
            case .update(let gone as Messenger.MessageDeletion): messages.removeAll { $0.id == gone.id }
            default: break
            }
        }
    }

    func send(_ text: String) async throws {
        try await messenger.send(Messenger.SendMessage(chat: chat, content: text))
    }

    private func change(_ edit: Messenger.MessageEdit) {
        guard let index = messages.firstIndex(where: { $0.id == edit.id }) else { return }
        messages[index].content = edit.content
    }
}
// end

enum LiveSamples {
    static func follow(
        _ messenger: MessengerClient, chat: Messenger.Chat.ID, newest: Messenger.Message.ID,
        show: (Messenger.Message) -> Void
    ) async throws {
        // sample
        let live = messenger.live()
        await live.subscribe(to: chat, since: newest)
        for try await event in live {
            if case .message(let message) = event { show(message) }
        }
        // end
    }

    static func open(
        _ messenger: MessengerClient, chat id: Messenger.Chat.ID, newest message: Messenger.Message.ID,
        show: (Messenger.Message) -> Void
    ) async throws {
        let (chat, newest) = (Identified(id), Identified(message))
        // sample
        let live = messenger.live()
        for try await event in live.events(in: chat.id, since: newest.id) {
            if case .message(let message) = event { show(message) }
        }
        // end
    }
}
