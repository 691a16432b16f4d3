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
    }

    func editMessage(
        _ request: Messenger.EditMessage, from editor: Messenger.User.ID
    ) async throws -> Messenger.SentMessage {
        let now = time.milliseconds()
        return try await database.write { db in
            let change = try ChatChange.lock(in: request.chat, by: editor, else: Chats.notAMember, db)
            try change.requireContact(in: db)
            var message = try Messages.own(request.message, of: editor, in: request.chat, db)
            guard message.type == .text else { throw Problem(.badRequest, "Only text messages can be changed") }
            try Messages.edit(message.id, to: request.content, at: now, in: db)
            message.content = request.content
            message.edited = .init(wrappedValue: .init(milliseconds: now))
            let edit = Messenger.MessageEdit(
                id: message.id, chat: message.chat, content: message.content, editedAt: .init(milliseconds: now))
            try announce(edit, version: change.version, in: db)
            return .init(message)
        }
    }

    func deleteMessage(_ request: Messenger.DeleteMessage, from caller: Messenger.User.ID) async throws -> Empty {
        try await database.write { db in
            let change = try ChatChange.lock(in: request.chat, by: caller, else: Chats.notAMember, db)
            let message = try Messages.own(request.message, of: caller, in: request.chat, db)
            try db.run("DELETE FROM messages WHERE id = \(message.id)")
            try Chats.dateByNewestMessage(request.chat, in: db)
            if let file = message.file { try Files.release([file], in: db) }
            try announce(
                .deleted(.init(id: message.id, chat: message.chat), version: change.version), in: message.chat, db)
        }
        return Empty()
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
        _ id: Messenger.Message.ID, to content: String, at now: Int64, in db: Session
    ) throws {
        try db.run("UPDATE messages SET content = \(content), edited_at = \(now) WHERE id = \(id)")
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
