import Foundation
import GRDB
import MessengerAPI

/// The messages and chats on this device. Each function is one transaction.
struct ChatCache: Sendable {
    let pool: DatabasePool
    /// The user whose cache it is.
    let user: Int64

    init(at url: URL, user: Int64, _ database: Configuration) throws {
        pool = try StoreFile.open(url, StoreSchema.cache, isDurable: false, user: user, database)
        self.user = user
        // How a change ended that was on its way when the process died is for the server to say.
        try pool.write { db in
            try db.execute(
                sql: """
                    UPDATE messages SET pending_content = NULL, is_pending_deletion = 0
                    WHERE pending_content IS NOT NULL OR is_pending_deletion
                    """)
        }
    }

    // MARK: Chats

    /// Adds or updates chats from the server's list.
    ///
    /// - Returns: The ids of known chats that are not in the list.
    func apply(_ summaries: [Messenger.ChatSummary]) throws -> Set<Messenger.Chat.ID> {
        try pool.write { db in
            for summary in summaries {
                let id = summary.id.rawValue
                let high = try Self.top(id, db)?.high ?? 0
                try db.execute(
                    literal: """
                        INSERT INTO chats (id, type, name, summary_at, summary_text, server_unread, unread_as_of, updated_at,
                            peer, peer_username, peer_name, peer_avatar, is_muted, muted_until)
                        VALUES (\(id), \(summary.type.rawValue), \(summary.name), \(summary.updatedAt.milliseconds),
                            \(summary.lastMessage), \(summary.unreadCount ?? 0), \(high),
                            \(summary.updatedAt.milliseconds), \(summary.peer?.id.rawValue), \(summary.peer?.username),
                            \(summary.peer?.displayName), \(summary.peer?.avatar?.rawValue), \(summary.mute != nil),
                            \(summary.mute?.until?.milliseconds))
                        ON CONFLICT (id) DO UPDATE SET
                            type = excluded.type, name = excluded.name, summary_at = excluded.summary_at,
                            summary_text = excluded.summary_text, server_unread = excluded.server_unread,
                            unread_as_of = excluded.unread_as_of, peer = excluded.peer,
                            peer_username = excluded.peer_username, peer_name = excluded.peer_name,
                            peer_avatar = excluded.peer_avatar, is_muted = excluded.is_muted,
                            muted_until = excluded.muted_until
                        """)
                try recount(id, db)
            }
            let known = try Int64.fetchSet(db, sql: "SELECT id FROM chats")
            return Set(known.subtracting(summaries.map(\.id.rawValue)).map { .init($0) })
        }
    }

    /// Stores whether the user has muted a chat.
    func mute(_ chat: Messenger.Chat.ID, _ mute: Messenger.Mute?) throws {
        try pool.write { db in
            try db.execute(
                literal: """
                    UPDATE chats SET is_muted = \(mute != nil), muted_until = \(mute?.until?.milliseconds)
                    WHERE id = \(chat.rawValue)
                    """)
        }
    }

    /// Stores a chat's members, and what else the server says about the chat itself.
    func apply(_ chat: Messenger.Chat) throws {
        try pool.write { db in
            let id = chat.id.rawValue
            try db.execute(
                literal: """
                    UPDATE chats SET type = \(chat.type.rawValue), name = \(chat.name), owner = \(chat.owner.rawValue),
                        created_at = \(chat.createdAt.milliseconds) WHERE id = \(id)
                    """)
            try db.execute(literal: "DELETE FROM members WHERE chat = \(id)")
            for (position, member) in chat.members.enumerated() {
                try db.execute(
                    literal: """
                        INSERT OR REPLACE INTO members VALUES (\(id), \(position), \(member.id.rawValue),
                            \(member.username), \(member.displayName), \(member.role.rawValue))
                        """)
            }
            try recount(id, db)
        }
    }

    /// Removes a chat with everything in it.
    ///
    /// - Returns: The files that nothing refers to any more.
    func remove(_ chat: Messenger.Chat.ID) throws -> [Messenger.File.ID] {
        let id = chat.rawValue
        return try pool.write { db in
            let files = try Int64.fetchAll(
                db, sql: "SELECT DISTINCT file FROM messages WHERE chat = ? AND file IS NOT NULL", arguments: [id])
            for table in ["members", "messages", "ranges", "marks"] {
                try db.execute(sql: "DELETE FROM \(table) WHERE chat = ?", arguments: [id])
            }
            try db.execute(literal: "DELETE FROM chats WHERE id = \(id)")
            return try files.filter { try !Self.isUsed(file: $0, db) }.map { .init($0) }
        }
    }

    func contains(_ chat: Messenger.Chat.ID) throws -> Bool {
        try pool.read { db in
            try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM chats WHERE id = ?)", arguments: [chat.rawValue])!
        }
    }

    /// How much of a chat is known.
    struct Knowledge {
        /// The id up to which all newest messages are known; nil before the first page.
        var high: Messenger.Message.ID?
        /// Whether the server's list of chats says something else than the messages.
        var isBehind: Bool
        var hasMembers: Bool
        var version: Int?
        var base: Int?
    }

    func knowledge(of chat: Messenger.Chat.ID) throws -> Knowledge? {
        let id = chat.rawValue
        return try pool.read { db in
            let row = try Row.fetchOne(
                db,
                sql: """
                    SELECT summary_at <> updated_at OR summary_text IS NOT last_text, version, base,
                        EXISTS (SELECT 1 FROM members WHERE chat = chats.id)
                    FROM chats WHERE id = ?
                    """, arguments: [id])
            guard let row else { return nil }
            return Knowledge(
                high: try Self.top(id, db).map { .init($0.high) }, isBehind: row[0], hasMembers: row[3],
                version: row[1], base: row[2])
        }
    }

    // MARK: What an app shows of a chat, computed after each change

    /// Computes a chat's time, last message and number of unread messages.
    func recount(_ chat: Int64, _ db: Database) throws {
        guard let top = try Self.top(chat, db) else {
            try db.execute(
                literal: """
                    UPDATE chats SET updated_at = summary_at, last_text = summary_text, unread = server_unread
                    WHERE id = \(chat)
                    """)
            return
        }
        let last = try Row.fetchOne(
            db,
            literal: """
                SELECT created_at, COALESCE(pending_content, content) FROM messages
                WHERE chat = \(chat) AND id >= \(top.low) AND NOT is_deleted AND NOT is_pending_deletion
                ORDER BY id DESC LIMIT 1
                """)
        if let last {
            let (time, text): (Int64, String) = (last[0], last[1])
            try db.execute(literal: "UPDATE chats SET updated_at = \(time), last_text = \(text) WHERE id = \(chat)")
        } else if top.low == 0 {
            try db.execute(
                literal: """
                    UPDATE chats SET updated_at = COALESCE(created_at, summary_at), last_text = NULL WHERE id = \(chat)
                    """)
        } else {
            try db.execute(
                literal: "UPDATE chats SET updated_at = summary_at, last_text = summary_text WHERE id = \(chat)")
        }
        let mark =
            try Int64.fetchOne(db, literal: "SELECT MAX(read_mark, read_wanted) FROM chats WHERE id = \(chat)") ?? 0
        if top.follows(mark) {
            let unread = try count(in: chat, after: mark, db)
            try db.execute(literal: "UPDATE chats SET unread = \(unread) WHERE id = \(chat)")
        } else {
            let since = try count(in: chat, after: try listed(chat, db), db)
            try db.execute(literal: "UPDATE chats SET unread = server_unread + \(since) WHERE id = \(chat)")
        }
    }

    /// Returns the newest message that the server had counted when it listed the chat. The list does not name it: it is one
    /// that was known then, or has the list's time and text, or is older. Times are seconds.
    private func listed(_ chat: Int64, _ db: Database) throws -> Int64 {
        try Int64.fetchOne(
            db,
            literal: """
                SELECT MAX(c.unread_as_of, COALESCE((
                    SELECT MAX(m.id) FROM messages m WHERE m.chat = c.id AND (
                        m.created_at < c.summary_at OR m.created_at = c.summary_at AND m.content IS c.summary_text)), 0))
                FROM chats c WHERE c.id = \(chat)
                """) ?? 0
    }

    private func count(in chat: Int64, after mark: Int64, _ db: Database) throws -> Int {
        try Int.fetchOne(
            db,
            literal: """
                SELECT COUNT(*) FROM messages
                WHERE chat = \(chat) AND id > \(mark) AND sender <> \(user) AND NOT is_deleted
                """)!
    }

    /// Returns whether the chat's newest message and number of unread messages follow from the messages on this device.
    /// If not, only the server's list of chats tells them.
    func isSelfContained(_ chat: Messenger.Chat.ID) throws -> Bool {
        let id = chat.rawValue
        return try pool.read { db in
            guard let top = try Self.top(id, db) else { return false }
            if top.low == 0 { return true }
            let row = try Row.fetchOne(
                db,
                literal: """
                    SELECT MAX(read_mark, read_wanted),
                        EXISTS (SELECT 1 FROM messages WHERE chat = \(id) AND id >= \(top.low) AND NOT is_deleted)
                    FROM chats WHERE id = \(id)
                    """)
            guard let row else { return true }
            return top.follows(row[0]) && row[1]
        }
    }
}
