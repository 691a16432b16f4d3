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
            let number = try Receipts.lock(reader, in: request.chat, before: request.message, db)
            guard let number else { return }
            guard try Receipts.advance(reader, in: request.chat, to: request.message, at: now, db) else {
                throw DatabaseFailure.conflict("the mark was moved in the meantime")
            }
            let mark = Messenger.ReadMark(
                chat: request.chat, user: reader, message: request.message, readAt: .init(milliseconds: now))
            self.announce(.frame(AnnouncedFrame(mark), version: nil), as: number, in: db)
        }
        return Empty()
    }

    func getReceipts(
        _ request: Messenger.GetReceipts, from caller: Messenger.User.ID
    ) async throws -> [Messenger.Receipt] {
        try await database.read(from: .replica) { db in
            try Chats.requireMember(caller, of: request.chat, in: db)
            return try Receipts.all(of: request.chat, in: db)
        }
    }
}

enum Receipts {
    /// Locks the chat's row, as every transaction does that changes one of its members, and counts the event.
    ///
    /// - Returns: The event's number; nil when the member's mark is not before the message.
    static func lock(
        _ user: Messenger.User.ID, in chat: Messenger.Chat.ID, before message: Messenger.Message.ID, _ db: Session
    ) throws -> EventNumber<Messenger.Chat.ID>? {
        try db.update(
            "chats", set: "events = events + 1", where: "id = \(chat)",
            if: """
                EXISTS (
                    SELECT 1 FROM members WHERE chat_id = \(chat) AND user_id = \(user)
                    AND COALESCE(last_read_id, 0) < \(message))
                """, returning: "events"
        ) { EventNumber(try $0.get(0), of: chat) }
    }

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
