import Contract
import Database
import MessengerAPI

/// A change of a chat that is under way: of its members, or of a message that was sent. It holds the lock of the chat's row:
/// other changes of the chat wait for it, and so do messages.
struct ChatChange {
    let chat: Messenger.Chat.ID
    let type: Messenger.ChatType
    let owner: Messenger.User.ID
    /// Nil in a group.
    let pair: Pair?
    /// A number that grows with every change, so that sockets tell one that they hear of late from one that is new. Of
    /// several changes it is the first: see ``take(_:in:)``.
    let version: Int64

    /// Locks the chat's row for a change, and gives the change its version. All others that change the chat or send to it
    /// wait: what is read next holds until the transaction ends.
    ///
    /// - Throws: `refusal` for those who are not in the chat.
    static func lock(
        in chat: Messenger.Chat.ID, by user: Messenger.User.ID, else refusal: Problem, _ db: Session
    ) throws -> ChatChange {
        guard let change = try lock(in: chat, by: user, db) else { throw refusal }
        return change
    }

    /// Does the same, and returns nil for those who are not in the chat.
    static func lock(
        in chat: Messenger.Chat.ID, by user: Messenger.User.ID, _ db: Session
    ) throws -> ChatChange? {
        // Asked before the lock, so that strangers hold up no member, and after it, since the membership may have ended
        // meanwhile.
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

    /// Takes as many versions as there are changes.
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
