import Contract
import Database
import MessengerAPI

/// A change in progress of a chat's members or of a message. It holds the lock of the chat's row, so other changes of
/// the chat and new messages wait.
struct ChatChange {
    let chat: Messenger.Chat.ID
    let type: Messenger.ChatType
    let owner: Messenger.User.ID
    /// The users of a direct chat; nil in a group.
    let pair: Pair?
    /// The chat's version, which grows with every change, so that sockets recognize a change that arrives late. When a
    /// transaction makes several changes, this is the version of the first: see ``reserveVersions(_:in:)``.
    let version: Int64

    /// Locks the chat's row for a change, and gives the change its version. Other transactions that change the chat or
    /// send to it wait, so what is read next stays true until the transaction ends.
    ///
    /// - Throws: `refusal` when the user is not in the chat.
    static func lock(
        in chat: Messenger.Chat.ID, by user: Messenger.User.ID, else refusal: Problem, _ db: Session
    ) throws -> ChatChange {
        guard let change = try lock(in: chat, by: user, db) else { throw refusal }
        return change
    }

    /// Locks the chat's row for a change, and returns nil when the user is not in the chat.
    static func lock(
        in chat: Messenger.Chat.ID, by user: Messenger.User.ID, _ db: Session
    ) throws -> ChatChange? {
        // Membership is checked before the lock, so that strangers cannot block members, and after it, because it may
        // have ended in the meantime.
        guard try Chats.isMember(user, of: chat, in: db) else { return nil }
        let change = try db.update(
            "chats", set: "version = version + 1", where: "id = \(chat)",
            returning: "type, owner_id, version, direct_low, direct_high"
        ) { row in
            ChatChange(
                chat: chat, type: try row.get(0), owner: try row.get(1), pair: try Pair(row: row, at: 3),
                version: try row.get(2))
        }
        guard let change, try Chats.isMember(user, of: chat, in: db) else { return nil }
        return change
    }

    /// Reserves as many versions as there are changes.
    func reserveVersions(_ count: Int, in db: Session) throws {
        try db.run("UPDATE chats SET version = version + \(count - 1) WHERE id = \(chat)")
    }

    func requireOwner(_ user: Messenger.User.ID) throws(Problem) {
        guard user == owner else { throw Problem(.forbidden, "Only the owner can do this") }
    }

    /// - Throws: A `Problem` with 403 when the users of a direct chat may not write to each other.
    func requireContact(in db: Session) throws {
        if let pair { try Blocks.requireContact(pair, in: db) }
    }

    func requireGroup() throws(Problem) {
        guard type == .group else { throw Problem(.badRequest, "Not a group chat") }
    }
}
