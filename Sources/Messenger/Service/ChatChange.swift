import Contract
import Database
import MessengerAPI

/// A change of a chat that is under way: of its members, or of a message that was sent. Other changes of the chat wait
/// for it, and so do messages.
struct ChatChange {
    let chat: Messenger.Chat.ID
    let type: Messenger.ChatType
    let owner: Messenger.User.ID
    /// Grows with every change, so that sockets tell one that they hear of late from one that is new. The first, of several
    /// changes: see ``take(_:in:)``.
    let version: Int64

    /// Puts this transaction in line with all others that change the chat or send to it: what it reads next holds until
    /// its end.
    ///
    /// - Throws: `refusal` for those who are not in the chat.
    static func begin(
        in chat: Messenger.Chat.ID, by user: Messenger.User.ID, else refusal: Problem, _ db: Session
    ) throws -> ChatChange {
        // Before, so that strangers keep nobody waiting; and after, since it may have ended while this one waited.
        guard try Chats.isMember(user, of: chat, in: db) else { throw refusal }
        let change = try db.one(
            "UPDATE chats SET version = version + 1 WHERE id = \(chat) RETURNING type, owner_id, version"
        ) { row in
            ChatChange(chat: chat, type: try row.get(0), owner: try row.get(1), version: try row.get(2))
        }
        guard let change, try Chats.isMember(user, of: chat, in: db) else { throw refusal }
        return change
    }

    /// Takes as many versions as things change.
    func take(_ count: Int, in db: Session) throws {
        try db.run("UPDATE chats SET version = version + \(count - 1) WHERE id = \(chat)")
    }

    func requireOwner(_ user: Messenger.User.ID) throws(Problem) {
        guard user == owner else { throw Problem(.forbidden, "Only the owner can do this") }
    }

    func requireGroup() throws(Problem) {
        guard type == .group else { throw Problem(.badRequest, "Not a group chat") }
    }
}
