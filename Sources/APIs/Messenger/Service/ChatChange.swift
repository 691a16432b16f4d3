import Contract
import Database
import MessengerAPI

/// A change of a chat that is under way: of its members, or of a message that was sent. Other changes of the chat wait
/// for it, and so do messages.
struct ChatChange {
    let chat: Messenger.Chat.ID
    let type: Messenger.ChatType
    let owner: Messenger.User.ID
    /// Nil in a group.
    let pair: Pair?
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
        guard let change = try begin(in: chat, by: user, db) else { throw refusal }
        return change
    }

    /// The same; nil for those who are not in the chat.
    static func begin(
        in chat: Messenger.Chat.ID, by user: Messenger.User.ID, _ db: Session
    ) throws -> ChatChange? {
        // Before, so that strangers keep nobody waiting; and after, since it may have ended while this one waited.
        guard try Chats.isMember(user, of: chat, in: db) else { return nil }
        let change = try db.one(
            """
            UPDATE chats SET version = version + 1 WHERE id = \(chat)
            RETURNING type, owner_id, version, direct_low, direct_high
            """
        ) { row in
            ChatChange(
                chat: chat, type: try row.get(0), owner: try row.get(1), pair: try Pair(row: row, at: 3),
                version: try row.get(2))
        }
        guard let change, try Chats.isMember(user, of: chat, in: db) else { return nil }
        return change
    }

    /// Takes as many versions as things change.
    func take(_ count: Int, in db: Session) throws {
        try db.run("UPDATE chats SET version = version + \(count - 1) WHERE id = \(chat)")
    }

    func requireOwner(_ user: Messenger.User.ID) throws(Problem) {
        guard user == owner else { throw Problem(.forbidden, "Only the owner can do this") }
    }

    /// - Throws: 403 where the two of a direct chat may not write to each other.
    func requireContact(in db: Session) throws {
        if let pair { try Blocks.requireContact(pair, in: db) }
    }

    func requireGroup() throws(Problem) {
        guard type == .group else { throw Problem(.badRequest, "Not a group chat") }
    }
}
