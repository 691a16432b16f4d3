import Backend
import Contract
import ContractServer
import Database
import HTTPTypes
import MessengerAPI

extension MessengerService {
    func messageChanges(_ routes: inout Routes<Messenger, Messenger.User.ID>) {
        routes.on(use: editMessage)
        routes.on(use: deleteMessage)
        routes.on(use: listChanges)
    }

    func editMessage(
        _ request: Messenger.EditMessage, from editor: Messenger.User.ID
    ) async throws -> Messenger.SentMessage {
        let now = time.milliseconds()
        let flagged = settings.flaggedWords.finding(in: request)
        return try await database.write { db in
            let change = try ChatChange.lock(in: request.chat, by: editor, else: Chats.notAMember, db)
            try change.requireContact(in: db)
            var message = try Messages.own(request.message, of: editor, in: request.chat, db)
            guard message.type == .text else { throw Problem(.badRequest, "Only text messages can be changed") }
            try Messages.edit(message.id, to: request.content, at: now, version: change.version, in: db)
            message.content = request.content
            try Reports.Queue.flag(flagged, message, at: now, in: db)
            message.edited = .init(wrappedValue: .init(milliseconds: now))
            let edit = Messenger.MessageEdit(
                id: message.id, chat: message.chat, content: message.content, editedAt: .init(milliseconds: now))
            try self.announce(edit, version: change.version, in: db)
            return .init(message)
        }
    }

    func deleteMessage(_ request: Messenger.DeleteMessage, from caller: Messenger.User.ID) async throws -> Empty {
        let now = time.milliseconds()
        try await database.write { db in
            let change = try ChatChange.lock(in: request.chat, by: caller, else: Chats.notAMember, db)
            let message = try Messages.own(request.message, of: caller, in: request.chat, db)
            try Messages.delete(
                [message.id], of: request.chat, to: change.version, keeping: self.settings.keptDeletions, at: now,
                in: db)
            try Chats.dateByNewestMessage(request.chat, in: db)
            if let file = message.file { try Files.release([file], in: db) }
            try self.announce(
                .deleted(.init(id: message.id, chat: message.chat), version: change.version), in: message.chat, db)
        }
        return Empty()
    }

    func listChanges(
        _ request: Messenger.ListChanges, from caller: Messenger.User.ID
    ) async throws -> Messenger.MessageChanges {
        let limit = min(request.limit ?? Messenger.ListChanges.maximum, Messenger.ListChanges.maximum)
        return try await database.read { db in
            try Chats.requireMember(caller, of: request.chat, in: db)
            // The version is read first: a change that comes in between is then returned twice rather than never.
            let known: (version: Int, from: Int)? = try db.one(
                "SELECT version, changes_known_from FROM chats WHERE id = \(request.chat)"
            ) { (try $0.get(0), try $0.get(1)) }
            guard let known else { throw Chats.notAMember }
            guard let after = request.after else {
                return .init(version: known.version, isComplete: true, changes: [])
            }
            // A version from the future is that of a database that was restored since.
            guard known.from...known.version ~= after else {
                return .init(version: known.version, isComplete: false, changes: [])
            }
            let found = try Messages.changes(of: request.chat, after: after, limit: limit, in: db)
            let version = found.count < limit ? known.version : found.last?.version ?? known.version
            return .init(version: version, isComplete: true, changes: found.map(\.change))
        }
    }
}

extension Messages {
    /// Returns a message of the user.
    ///
    /// - Throws: A `Problem` with 404 for a message that is not in the chat, with 403 for another user's message.
    fileprivate static func own(
        _ id: Messenger.Message.ID, of user: Messenger.User.ID, in chat: Messenger.Chat.ID, _ db: Session
    ) throws -> Messenger.Message {
        guard let message = try one(id, in: db), message.chat == chat else { throw notFound }
        guard message.sender == user else {
            throw Problem(.forbidden, "Only the sender can change a message")
        }
        return message
    }

    fileprivate static func edit(
        _ id: Messenger.Message.ID, to content: String, at now: Int64, version: Int64, in db: Session
    ) throws {
        try db.run(
            """
            UPDATE messages SET content = \(content), edited_at = \(now), version = \(version) WHERE id = \(id)
            """)
    }

    /// Deletes messages of a chat, and remembers their ids for apps that were away.
    ///
    /// - Parameters:
    ///   - version: The chat's version of the last of the deletions; each has a version of its own.
    ///   - count: The number of the chat's last changes whose deletions are remembered.
    static func delete(
        _ messages: [Messenger.Message.ID], of chat: Messenger.Chat.ID, to version: Int64, keeping count: Int64,
        at now: Int64, in db: Session
    ) throws {
        try db.run(
            """
            INSERT INTO deleted_messages (chat_id, version, message_id)
            SELECT chat_id, CAST(\(version - Int64(messages.count)) AS BIGINT) + ROW_NUMBER() OVER (ORDER BY id), id
            FROM messages WHERE id IN (\(list: messages))
            """)
        try db.run("DELETE FROM messages WHERE id IN (\(list: messages))")
        try Reports.Queue.end(.message, messages.map { "\($0)" }, at: now, in: db)
        let forgotten = version - count
        let isForgotten = try db.run(
            "DELETE FROM deleted_messages WHERE chat_id = \(chat) AND version <= \(forgotten)")
        if isForgotten > 0 {
            try db.run("UPDATE chats SET changes_known_from = \(forgotten) WHERE id = \(chat)")
        }
    }

    /// Returns the messages that were edited or deleted after a version, the first change first.
    fileprivate static func changes(
        of chat: Messenger.Chat.ID, after version: Int, limit: Int, in db: Session
    ) throws -> [(version: Int, change: Messenger.MessageChange)] {
        try db.all(
            """
            SELECT version, id, content, edited_at FROM messages WHERE chat_id = \(chat) AND version > \(version)
            UNION ALL
            SELECT version, message_id, NULL, NULL FROM deleted_messages
            WHERE chat_id = \(chat) AND version > \(version)
            ORDER BY 1 LIMIT \(limit)
            """
        ) { row in
            (try row.get(0), .init(id: try row.get(1), content: try row.get(2), editedAt: try row.get(3)))
        }
    }

    /// Returns the newest edit of a message; nil when there is none, or the message was deleted.
    static func edit(of id: Messenger.Message.ID, in db: Session) throws -> Messenger.MessageEdit? {
        try db.one(
            "SELECT id, chat_id, content, edited_at FROM messages WHERE id = \(id) AND edited_at IS NOT NULL"
        ) { row in
            .init(
                id: try row.get(0), chat: try row.get(1), content: try row.get(2), editedAt: try row.get(3))
        }
    }
}
