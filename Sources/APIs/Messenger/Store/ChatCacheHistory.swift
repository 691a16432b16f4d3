import Foundation
import GRDB
import MessengerAPI

/// Messages, and which parts of a chat's history are there without a gap.
extension ChatCache {
    /// A part of a chat's history that is known without a gap.
    struct Range {
        var low, high: Int64

        /// Returns whether nothing is between an id and this part. Servers give ids, so the greatest is as good as any.
        func follows(_ id: Int64) -> Bool { low <= id || low - 1 == id }
    }

    /// Returns the newest part.
    static func top(_ chat: Int64, _ db: Database) throws -> Range? {
        try Row.fetchOne(
            db, literal: "SELECT low, high FROM ranges WHERE chat = \(chat) ORDER BY low DESC LIMIT 1"
        ).map { Range(low: $0[0], high: $0[1]) }
    }

    /// Records that the messages from `low` to `high` are known, joined with what was known.
    private func cover(_ chat: Int64, _ low: Int64, _ high: Int64, _ db: Database) throws {
        let touching = try Row.fetchAll(
            db,
            literal: """
                SELECT low, high FROM ranges WHERE chat = \(chat) AND low - 1 <= \(high) AND high >= \(low) - 1
                """
        ).map { Range(low: $0[0], high: $0[1]) }
        for range in touching {
            try db.execute(literal: "DELETE FROM ranges WHERE chat = \(chat) AND low = \(range.low)")
        }
        let (low, high) = touching.reduce((low, high)) { (min($0.0, $1.low), max($0.1, $1.high)) }
        try db.execute(literal: "INSERT INTO ranges VALUES (\(chat), \(low), \(high))")
    }

    /// Adds messages. Those that are there already stay as they are: changes reach them by other ways, in order.
    private func add(_ messages: [Messenger.Message], _ db: Database) throws {
        for message in messages {
            try db.execute(
                literal: """
                    INSERT OR IGNORE INTO messages (id, chat, sender, content, type, file, created_at, edited_at)
                    VALUES (\(message.id.rawValue), \(message.chat.rawValue), \(message.sender.rawValue),
                        \(message.content), \(message.type.rawValue), \(message.file?.rawValue),
                        \(message.createdAt.milliseconds), \(message.editedAt?.milliseconds))
                    """)
        }
        // A user's own message moves the user's mark.
        if let own = messages.filter({ $0.sender.rawValue == user }).map(\.id.rawValue).max(),
            let chat = messages.first?.chat.rawValue
        {
            try raiseMark(of: user, in: chat, to: own, db)
        }
    }

    // MARK: Pages

    /// Begins the copy of a chat, or begins it again, with the newest page.
    func begin(_ chat: Messenger.Chat.ID, page: [Messenger.Message], version: Int?) throws {
        let id = chat.rawValue
        try pool.write { db in
            try db.execute(literal: "DELETE FROM messages WHERE chat = \(id) AND NOT is_deleted")
            try db.execute(literal: "DELETE FROM ranges WHERE chat = \(id)")
            try add(page, db)
            try cover(id, page.last?.id.rawValue ?? 0, page.first?.id.rawValue ?? 0, db)
            try db.execute(literal: "UPDATE chats SET version = \(version), base = \(version) WHERE id = \(id)")
            try recount(id, db)
        }
    }

    /// Adds the messages after the newest known one, in any order.
    func extend(_ chat: Messenger.Chat.ID, from high: Messenger.Message.ID, by page: [Messenger.Message]) throws {
        try pool.write { db in
            try add(page, db)
            let newest = page.map(\.id).max() ?? high
            try cover(chat.rawValue, high.rawValue, newest.rawValue, db)
            try recount(chat.rawValue, db)
        }
    }

    /// Adds the newest page. What lies between it and the messages that were known is a gap.
    func addNewest(_ page: [Messenger.Message], to chat: Messenger.Chat.ID) throws {
        guard let newest = page.first, let oldest = page.last else { return }
        try pool.write { db in
            try add(page, db)
            try cover(chat.rawValue, oldest.id.rawValue, newest.id.rawValue, db)
            try recount(chat.rawValue, db)
        }
    }

    /// Adds a page of messages before one. An empty page is the beginning of the chat.
    func add(_ page: [Messenger.Message], before: Messenger.Message.ID, to chat: Messenger.Chat.ID) throws {
        try pool.write { db in
            try add(page, db)
            try cover(chat.rawValue, page.last?.id.rawValue ?? 0, max(.min + 1, before.rawValue) - 1, db)
            try recount(chat.rawValue, db)
        }
    }

    /// Adds a message of the live connection, which delivers all messages after the newest known one, in order.
    ///
    /// - Returns: Whether the chat is known.
    func receive(_ message: Messenger.Message) throws -> Bool {
        try pool.write { db in
            let chat = message.chat.rawValue
            guard let top = try Self.top(chat, db) else { return false }
            if message.id.rawValue > top.high {
                try add([message], db)
                try cover(chat, top.high, message.id.rawValue, db)
            } else if message.id.rawValue >= top.low {
                try add([message], db)
            }
            try recount(chat, db)
            return true
        }
    }

    // MARK: Changes of messages

    /// Applies the current content of a message.
    func edit(_ id: Messenger.Message.ID, in chat: Messenger.Chat.ID, to content: String, at time: Int64?) throws {
        try pool.write { db in
            try edit(id.rawValue, content, time, db)
            try recount(chat.rawValue, db)
        }
    }

    private func edit(_ id: Int64, _ content: String, _ time: Int64?, _ db: Database) throws {
        try db.execute(
            literal: """
                UPDATE messages SET content = \(content), edited_at = \(time) WHERE id = \(id) AND NOT is_deleted
                """)
    }

    /// Removes a message for good.
    ///
    /// - Returns: Its file, if nothing else refers to it.
    @discardableResult
    func delete(_ id: Messenger.Message.ID, in chat: Messenger.Chat.ID) throws -> Messenger.File.ID? {
        try pool.write { db in
            let file = try delete(id.rawValue, chat.rawValue, db)
            try recount(chat.rawValue, db)
            return file
        }
    }

    private func delete(_ id: Int64, _ chat: Int64, _ db: Database) throws -> Messenger.File.ID? {
        let file = try Int64.fetchOne(db, literal: "SELECT file FROM messages WHERE id = \(id)")
        try db.execute(
            literal: """
                INSERT INTO messages (id, chat, sender, content, type, created_at, is_deleted)
                VALUES (\(id), \(chat), 0, '', '', 0, 1)
                ON CONFLICT (id) DO UPDATE SET content = '', file = NULL, is_deleted = 1, pending_content = NULL,
                    is_pending_deletion = 0
                """)
        guard let file, try !Self.isUsed(file: file, db) else { return nil }
        return .init(file)
    }

    /// Applies a list of changes.
    ///
    /// - Parameters:
    ///   - isFirst: Whether it is the first list of its connection.
    ///   - newer: The edits that arrived while the list was on its way. They stay.
    /// - Returns: The files that nothing refers to any more.
    func apply(
        _ list: Messenger.MessageChanges, to chat: Messenger.Chat.ID, isFirst: Bool,
        newer: [Messenger.Message.ID: Messenger.MessageEdit]
    ) throws -> [Messenger.File.ID] {
        try pool.write { db in
            var files: [Messenger.File.ID] = []
            for change in list.changes {
                if let content = change.content {
                    let newer = newer[change.id]
                    try edit(
                        change.id.rawValue, newer?.content ?? content,
                        (newer?.editedAt ?? change.editedAt)?.milliseconds, db)
                } else if let file = try delete(change.id.rawValue, chat.rawValue, db) {
                    files.append(file)
                }
            }
            if isFirst { try db.execute(literal: "UPDATE chats SET base = version WHERE id = \(chat.rawValue)") }
            // A message that is still to come may come as a frame, which does not say that the message was edited. Its edit
            // is then read again.
            let high = try Self.top(chat.rawValue, db)?.high ?? 0
            if !list.changes.contains(where: { $0.content != nil && $0.id.rawValue > high }) {
                try db.execute(
                    literal: """
                        UPDATE chats SET version = \(list.version), base = COALESCE(base, \(list.version))
                        WHERE id = \(chat.rawValue)
                        """)
            }
            try recount(chat.rawValue, db)
            return files
        }
    }

    static func isUsed(file: Int64, _ db: Database) throws -> Bool {
        try Bool.fetchOne(db, literal: "SELECT EXISTS (SELECT 1 FROM messages WHERE file = \(file))")!
    }

    // MARK: The user's own changes that are in progress

    /// Shows or hides an edit or a deletion that the server has not confirmed.
    func setPending(
        _ id: Messenger.Message.ID, in chat: Messenger.Chat.ID, content: String?, isDeletion: Bool
    ) throws {
        try pool.write { db in
            try db.execute(
                literal: """
                    UPDATE messages SET pending_content = \(content), is_pending_deletion = \(isDeletion)
                    WHERE id = \(id.rawValue) AND NOT is_deleted
                    """)
            try recount(chat.rawValue, db)
        }
    }

    // MARK: Read marks

    func raiseMark(of reader: Int64, in chat: Int64, to message: Int64, _ db: Database) throws {
        try db.execute(
            literal: """
                INSERT INTO marks VALUES (\(chat), \(reader), \(message))
                ON CONFLICT (chat, user) DO UPDATE SET message = MAX(message, excluded.message)
                """)
        guard reader == user else { return }
        try db.execute(literal: "UPDATE chats SET read_mark = MAX(read_mark, \(message)) WHERE id = \(chat)")
    }

    /// Records how far members have read. Marks never move back, so the order of arrival does not matter.
    func apply(_ marks: [(user: Messenger.User.ID, message: Messenger.Message.ID)], in chat: Messenger.Chat.ID) throws {
        try pool.write { db in
            for mark in marks {
                try raiseMark(of: mark.user.rawValue, in: chat.rawValue, to: mark.message.rawValue, db)
            }
            try recount(chat.rawValue, db)
        }
    }

    /// Records how far the user has read, for the server to be told.
    func wantRead(_ message: Messenger.Message.ID, in chat: Messenger.Chat.ID) throws {
        let id = chat.rawValue
        try pool.write { db in
            try db.execute(
                literal: """
                    UPDATE chats SET read_wanted = MAX(read_wanted, \(message.rawValue)) WHERE id = \(id)
                    """)
            try recount(id, db)
        }
    }

    /// Returns a mark that the server is to be told; nil when there is none.
    func wantedMark() throws -> (chat: Messenger.Chat.ID, message: Messenger.Message.ID)? {
        try pool.read { db in
            try Row.fetchOne(db, sql: "SELECT id, read_wanted FROM chats WHERE read_wanted > read_mark ORDER BY id")
                .map { (.init($0[0]), .init($0[1])) }
        }
    }

    /// Forgets a mark that the server has been told, or does not take.
    func forgetWantedMark(_ wanted: Messenger.Message.ID, in chat: Messenger.Chat.ID) throws {
        let id = chat.rawValue
        try pool.write { db in
            try db.execute(
                literal: """
                    UPDATE chats SET read_wanted = read_mark WHERE id = \(id) AND read_wanted <= \(wanted.rawValue)
                    """)
            try recount(id, db)
        }
    }
}
