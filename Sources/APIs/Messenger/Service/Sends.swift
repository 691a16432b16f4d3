import Backend
import Contract
import ContractServer
import Database
import MessengerAPI

/// How a message is sent: who may send it, and what changes with it. A send is alone in its transaction or closure
/// (``send(_:from:at:in:)``, on both engines), or one of many that PostgreSQL makes with one statement
/// (``together(_:publishing:pushing:in:)``). Both use the conditions and the columns that stand here, and keep these rules:
///
/// - The sender is a member of the chat, and in a direct chat nothing keeps the two users apart.
/// - A file is the sender's own upload. Sends with files, and those with a flagged word, are never together with others.
/// - The chat's time becomes that of the message, and the message has the next number of the chat's events.
/// - The sender has read the message.
/// - The ids of a chat's messages grow in the order of the commits: its row is locked before the id is made.
///
/// A send that is refused has changed nothing, so that it does not disturb those that share its transaction.
enum Sends {
    /// A message that waits to be sent together with others.
    struct Waiting: Sendable {
        let request: Messenger.SendMessage
        let sender: Messenger.User.ID
        let key: IdempotencyKey?
        let now: Int64

        func message(_ id: Messenger.Message.ID) -> Messenger.Message {
            Sends.message(id, request, from: sender, at: now)
        }
    }

    /// Returns what a send stores in a column.
    static func value(of column: Messages.Column, in message: Messenger.Message) -> SQLValue {
        switch column {
        case .id: message.id.sqlValue
        case .chat: message.chat.sqlValue
        case .sender: message.sender.sqlValue
        case .content: message.content.sqlValue
        case .type: message.type.sqlValue
        case .file: message.file?.sqlValue ?? .null
        case .createdAt: message.createdAt.sqlValue
        }
    }

    /// The columns of a message whose id the database makes.
    private static let columns = Messages.Column.allCases.filter { $0 != .id }
    private static let columnList = SQL(trusted: columns.map(\.rawValue).joined(separator: ", "))

    /// Returns the message of a send: the answer, what its event says, and what is stored.
    static func message(
        _ id: Messenger.Message.ID, _ request: Messenger.SendMessage, from sender: Messenger.User.ID, at now: Int64
    ) -> Messenger.Message {
        Messenger.Message(
            id: id, chat: request.chat, sender: sender, content: request.content, type: request.type,
            file: request.file, createdAt: .init(milliseconds: now))
    }

    /// Returns the condition that a user is a member of a chat.
    ///
    /// - Parameters:
    ///   - chat: The name of the table of chats in the statement.
    ///   - sender: The user's id, or its column.
    private static func isMember(of chat: SQL, _ sender: SQL) -> SQL {
        "EXISTS (SELECT 1 FROM members m WHERE m.chat_id = \(chat).id AND m.user_id = \(sender))"
    }

    /// Returns the condition that a user may write to a chat.
    static func mayWrite(to chat: SQL, _ sender: SQL) -> SQL {
        let bar = Blocks.bar(between: "\(chat).direct_low", and: "\(chat).direct_high")
        return "(\(isMember(of: chat, sender)) AND (\(chat).direct_low IS NULL OR NOT EXISTS (\(bar))))"
    }

    /// Sends a message.
    ///
    /// - Returns: The message, and the number of the event that announces it.
    /// - Throws: A `Problem` with 403 when the sender is not in the chat, or one user of a direct chat has blocked the
    ///   other; with 404 for a file that is not the sender's upload.
    static func send(
        _ request: Messenger.SendMessage, from sender: Messenger.User.ID, at now: Int64, in db: Session
    ) throws -> (Messenger.Message, EventNumber<Messenger.Chat.ID>) {
        // A block or a removal that the lock waited for is seen by the statements behind it. Strangers lock nothing, so
        // they cannot make members wait.
        if !db.isOnlyWriter {
            try db.lock("chats", where: "id = \(request.chat) AND \(isMember(of: "chats", "\(sender)"))")
        }
        if let file = request.file {
            try requireRight(of: sender, in: request.chat, db)
            try Files.lock(file, of: sender, in: db)
        }
        let event = try db.update(
            "chats", set: "updated_at = \(now), events = events + 1", where: "id = \(request.chat)",
            if: mayWrite(to: "chats", "\(sender)"), returning: "events"
        ) { EventNumber(try $0.get(0), of: request.chat) }
        guard let event else {
            try requireRight(of: sender, in: request.chat, db)
            throw DatabaseFailure.failed("a chat was not changed")
        }
        var message = message(.init(0), request, from: sender, at: now)
        let values = columns.map { value(of: $0, in: message) }
        let id: Messenger.Message.ID? = try db.insert(
            "INSERT INTO messages (\(columnList)) VALUES (\(values: values))")
        guard let id else { throw DatabaseFailure.failed("an insert returned no id") }
        message.id = id
        try db.run(
            """
            UPDATE members SET last_read_id = \(id), read_at = \(now)
            WHERE chat_id = \(request.chat) AND user_id = \(sender)
            """)
        return (message, event)
    }

    /// - Throws: A `Problem` with 403 when a user may not write to a chat.
    private static func requireRight(
        of sender: Messenger.User.ID, in chat: Messenger.Chat.ID, _ db: Session
    ) throws {
        guard try db.exists("SELECT 1 FROM chats WHERE id = \(chat) AND \(isMember(of: "chats", "\(sender)"))") else {
            throw Chats.notAMember
        }
        guard try db.exists("SELECT 1 FROM chats WHERE id = \(chat) AND \(mayWrite(to: "chats", "\(sender)"))") else {
            throw Blocks.noContact
        }
    }
}
