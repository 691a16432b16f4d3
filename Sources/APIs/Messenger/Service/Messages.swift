import Backend
import Contract
import ContractServer
import Database
import HTTPTypes
import MessengerAPI

extension MessengerService {
    func messages(_ routes: inout Routes<Messenger, Messenger.User.ID>) {
        routes.on(answering: sendMessage)
        routes.on(use: listMessages)
    }

    func sendMessage(
        _ request: Messenger.SendMessage, from sender: Messenger.User.ID, _ info: RequestInfo
    ) async throws -> Answer<Messenger.SentMessage> {
        let now = time.milliseconds()
        let flagged = settings.flaggedWords.finding(in: request)
        if let sends, request.file == nil, flagged == nil,
            let sent = try await sendTogether(request, by: sends, from: sender, info, at: now)
        {
            return sent
        }
        return try await database.write(info.idempotencyKey, errorMessages: Messenger.errorMessages, at: now) { db in
            let (message, number) = try Sends.send(request, from: sender, at: now, in: db)
            try Reports.Queue.flag(flagged, message, at: now, in: db)
            self.announce(.message(message), as: number, in: db)
            try self.pushes?.post(message.id, at: now, in: db)
            return Answer(.created, .init(message))
        }
    }

    /// Sends a message together with others.
    ///
    /// - Returns: Nil when it has not been sent: it is to be sent alone, or refused.
    private func sendTogether(
        _ request: Messenger.SendMessage, by sends: SharedWrites<Sends.Waiting, Answer<Messenger.SentMessage>>,
        from sender: Messenger.User.ID, _ info: RequestInfo, at now: Int64
    ) async throws -> Answer<Messenger.SentMessage>? {
        do {
            let send = Sends.Waiting(request: request, sender: sender, key: info.idempotencyKey, now: now)
            return try await database.write(send, with: sends)
        } catch DatabaseFailure.unknownOutcome where info.idempotencyKey != nil {
            // Whether it was sent is decided by the row of the key.
            return nil
        }
    }

    func listMessages(
        _ request: Messenger.ListMessages, from caller: Messenger.User.ID
    ) async throws -> [Messenger.Message] {
        let limit = min(request.limit ?? 50, Messenger.ListMessages.maximum)
        let parts = Messages.Parts(request.include)
        // A client that catches up with the events of a socket reads where they are numbered.
        return try await database.read(from: request.after == nil ? .replica : .primary) { db in
            let page =
                request.after.map { Messages.following($0, in: request.chat, limit: limit, with: parts) }
                ?? Messages.page(of: request.chat, before: request.before, limit: limit, with: parts)
            let (isMember, messages) = try db.finish(Chats.membership(of: caller, in: request.chat), page)
            guard isMember else { throw Chats.notAMember }
            return request.after == nil ? messages : messages.reversed()
        }
    }
}

enum Messages {
    static let notFound = Problem(.notFound, "Message not found")

    /// The columns of a message, which ``Messenger/Message/init(row:)`` reads.
    enum Column: String, Columns, CodingKey {
        case id
        case chat = "chat_id"
        case sender = "sender_id"
        case content, type
        case file = "file_id"
        case createdAt = "created_at"

        static let list = ColumnList(Self.self)
    }

    /// The columns of a message's file `f`.
    private enum FileColumn: String, Columns {
        case filename = "f.filename"
        case mimeType = "f.mime_type"
        case size = "f.size"

        static let list = ColumnList(Self.self)
    }

    /// The parts of messages that a list has when it is asked for them.
    struct Parts {
        var edits = false
        var files = false

        init(_ include: Messenger.Inclusions? = nil) {
            guard let include else { return }
            (edits, files) = (include.contains(.edited), include.contains(.file))
        }
    }

    /// Returns the query for messages, the newest first; with `before` only older ones.
    static func page(
        of chat: Messenger.Chat.ID, before: Messenger.Message.ID?, limit: Int, with parts: Parts
    ) -> Query<[Messenger.Message]> {
        all(parts, "chat_id = \(chat) AND id < \(before ?? .init(.max))", order: "id DESC", limit)
    }

    private static func all(_ parts: Parts, _ condition: SQL, order: SQL, _ limit: Int) -> Query<[Messenger.Message]> {
        let rest: SQL = "WHERE \(condition) ORDER BY \(order) LIMIT \(limit)"
        // `edited_at` stands behind the message, and the file behind that.
        let edited = Column.list.count
        if parts.files {
            return .all(
                """
                SELECT m.*, \(FileColumn.list) FROM (
                    SELECT \(Column.list), edited_at FROM messages \(rest)) m
                LEFT JOIN files f ON f.id = m.file_id ORDER BY m.\(order)
                """
            ) { row in
                var message = try Messenger.Message(row: row)
                if parts.edits { message.edited = .init(wrappedValue: try row.get(edited)) }
                let name: String? = try row.get(FileColumn.filename, behind: edited + 1)
                message.described = .init(
                    wrappedValue: try name.map {
                        .init(
                            filename: $0, mimeType: try row.get(FileColumn.mimeType, behind: edited + 1),
                            size: try row.get(FileColumn.size, behind: edited + 1))
                    })
                return message
            }
        }
        guard parts.edits else {
            return .all("SELECT \(Column.list) FROM messages \(rest)", Messenger.Message.init(row:))
        }
        return .all("SELECT \(Column.list), edited_at FROM messages \(rest)") { row in
            var message = try Messenger.Message(row: row)
            message.edited = .init(wrappedValue: try row.get(edited))
            return message
        }
    }

    static func one(_ id: Messenger.Message.ID, in db: Session) throws -> Messenger.Message? {
        try db.one("SELECT \(Column.list) FROM messages WHERE id = \(id)", Messenger.Message.init(row:))
    }

    /// - Throws: A `Problem` with 404 for a message that is not in the chat.
    static func require(_ id: Messenger.Message.ID, in chat: Messenger.Chat.ID, _ db: Session) throws {
        guard try db.exists("SELECT 1 FROM messages WHERE id = \(id) AND chat_id = \(chat)") else { throw notFound }
    }

    /// Returns the id of the newest message; zero in an empty chat.
    static func newest(in chat: Messenger.Chat.ID, _ db: Session) throws -> Messenger.Message.ID {
        try db.value("SELECT id FROM messages WHERE chat_id = \(chat) ORDER BY id DESC LIMIT 1") ?? .init(0)
    }

    /// Returns the query for messages after one, the oldest first.
    static func following(
        _ after: Messenger.Message.ID, in chat: Messenger.Chat.ID, limit: Int, with parts: Parts = Parts()
    ) -> Query<[Messenger.Message]> {
        all(parts, "chat_id = \(chat) AND id > \(after)", order: "id", limit)
    }
}

extension Messenger.Message {
    init(row: borrowing Row) throws {
        self.init(
            id: try row.get(Messages.Column.id), chat: try row.get(Messages.Column.chat),
            sender: try row.get(Messages.Column.sender), content: try row.get(Messages.Column.content),
            type: try row.get(Messages.Column.type), file: try row.get(Messages.Column.file),
            createdAt: try row.get(Messages.Column.createdAt))
    }
}
