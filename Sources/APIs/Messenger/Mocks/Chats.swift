import Contract
import ContractMocks
import MessengerAPI
import MessengerExamples

extension Messenger.CreatedChat {
    /// The example: chat 5.
    public static let example: Self = contractExample(MessengerExamples.created)
}

extension Messenger.ChatSummary {
    /// The example: a direct chat, whose title is the other member's name. The mock lists ``Messenger/Chat/example``, a
    /// group.
    public static let example: Self = contractExample(MessengerExamples.chatSummary)
}

extension Messenger.Chat {
    /// The example: Alice's group with Bob, "Team Alpha".
    public static let example: Self = contractExample(MessengerExamples.chat)
}

extension MessengerMock {
    func chats() {
        server.example(of: Messenger.CreateChat.self) { [memory] request in
            if request.type == .direct, memory.use({ !$0.blocked.isDisjoint(with: request.members) }) {
                throw Problem(.forbidden, "You cannot message this user")
            }
            return .example
        }
        server.example(of: Messenger.ListChats.self) { [memory] request in
            guard request.before == nil else { return [] }
            let chat = Messenger.Chat.example
            let (newest, unread, mute) = memory.use { ($0.messages.last, $0.unreadCount, $0.mute) }
            var row = Messenger.ChatSummary(
                id: chat.id, type: chat.type, name: chat.name, updatedAt: newest?.createdAt ?? chat.createdAt,
                lastMessage: newest?.content, unreadCount: request.include?.contains(.unread) == true ? unread : nil)
            // The chat is a group, which has no peer.
            if request.include?.contains(.peer) == true { row.describedPeer = .init(wrappedValue: nil) }
            if request.include?.contains(.newest) == true { row.describedMessage = .init(wrappedValue: newest) }
            if request.include?.contains(.muted) == true { row.describedMute = .init(wrappedValue: mute) }
            return [row]
        }
        server.example(of: Messenger.GetChat.self) { try Self.chat($0.id) }
    }

    static func chat(_ id: Messenger.Chat.ID) throws -> Messenger.Chat {
        guard id == Messenger.Chat.example.id else {
            throw Problem(.notFound, "Chat not found or access denied")
        }
        return .example
    }
}
