import Identity
import MessengerAPI

extension MessengerService {
    /// Announces to the other members of a chat that a user is typing. No request waits for it, and it may be lost.
    func announceTyping(by user: Messenger.User.ID, in chat: Messenger.Chat.ID) {
        let now = time.milliseconds()
        guard typing.allows(user, in: chat, at: now) else { return }
        Task {
            try? await database.write { db in
                guard try Chats.isMember(user, of: chat, in: db) else { return }
                try Chats.requireContact(in: chat, db)
                self.announce(.typing(user, in: chat, at: now), as: nil, in: db)
            }
        }
    }
}

/// Lets each user announce typing in each chat once in three seconds.
final class TypingLimit: Sendable {
    static let interval: Int64 = 3000

    private struct Key: Hashable {
        let user: Messenger.User.ID
        let chat: Messenger.Chat.ID
    }

    private let last = BoundedCache<Key, Int64>(capacity: 20_000)

    /// - Parameter moment: The time in milliseconds since 1970; the clocks of nodes may differ a little.
    func allows(_ user: Messenger.User.ID, in chat: Messenger.Chat.ID, at moment: Int64) -> Bool {
        last.update(Key(user: user, chat: chat)) { last in
            if let last, abs(moment - last) < Self.interval { return false }
            last = moment
            return true
        }
    }
}
