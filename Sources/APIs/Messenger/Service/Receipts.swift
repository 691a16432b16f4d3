import Backend
import Contract
import ContractServer
import Database
import MessengerAPI

extension MessengerService {
    func receipts(_ routes: inout Routes<Messenger, Messenger.User.ID>) {
        routes.on(use: markRead)
        routes.on(use: getReceipts)
    }

    func markRead(_ request: Messenger.MarkRead, from reader: Messenger.User.ID) async throws -> Empty {
        let now = time.milliseconds()
        try await database.write { db in
            try Chats.requireMember(reader, of: request.chat, in: db)
            try Messages.require(request.message, in: request.chat, db)
            guard try Receipts.advance(reader, in: request.chat, to: request.message, at: now, db) else { return }
            let mark = Messenger.ReadMark(
                chat: request.chat, user: reader, message: request.message, readAt: .init(milliseconds: now))
            try announce(mark, in: db)
        }
        return Empty()
    }

    func getReceipts(
        _ request: Messenger.GetReceipts, from caller: Messenger.User.ID
    ) async throws -> [Messenger.Receipt] {
        try await database.read { db in
            try Chats.requireMember(caller, of: request.chat, in: db)
            return try Receipts.all(of: request.chat, in: db)
        }
    }
}

enum Receipts {
    /// Moves a member's mark forward, and returns whether it has moved.
    static func advance(
        _ user: Messenger.User.ID, in chat: Messenger.Chat.ID, to message: Messenger.Message.ID, at now: Int64,
        _ db: Session
    ) throws -> Bool {
        try db.run(
            """
            UPDATE members SET last_read_id = \(message), read_at = \(now)
            WHERE chat_id = \(chat) AND user_id = \(user) AND COALESCE(last_read_id, 0) < \(message)
            """) == 1
    }

    static func all(of chat: Messenger.Chat.ID, in db: Session) throws -> [Messenger.Receipt] {
        try db.all(
            """
            SELECT user_id, last_read_id, read_at FROM members
            WHERE chat_id = \(chat) AND last_read_id IS NOT NULL ORDER BY user_id
            """
        ) { row in .init(user: try row.get(0), lastRead: try row.get(1), readAt: try row.get(2)) }
    }
}
