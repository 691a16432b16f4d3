import Contract
import Foundation
import GRDB
import MessengerAPI

/// Reads from the cache what an app shows.
extension ChatCache {
    /// The newest messages of a chat.
    struct Page {
        /// The messages, the oldest first.
        var messages: [StoredMessage] = []
        /// Whether there are older ones, on this device or on the server.
        var hasOlder = true
        /// The message before which the newest part of the history ends within this page; nil if it does not.
        var hole: Messenger.Message.ID?
    }

    /// Returns the chats, those with the newest messages first, or one of them alone.
    func chats(_ id: Messenger.Chat.ID? = nil) throws -> [StoredChat] {
        try pool.read { db in
            try Row.fetchAll(
                db,
                literal: """
                    SELECT id, type, COALESCE(name, peer_name,
                            (SELECT display_name FROM members WHERE chat = chats.id AND user <> \(user) LIMIT 1)) AS title,
                        updated_at, last_text, unread, is_muted, muted_until,
                        peer, peer_username, peer_name, peer_avatar
                    FROM chats WHERE \(id == nil) OR id = \(id?.rawValue) ORDER BY updated_at / 1000 DESC, id DESC
                    """
            ).map { row in
                StoredChat(
                    id: .init(row["id"]), type: .init(rawValue: row["type"]), title: row["title"], peer: Self.peer(row),
                    updatedAt: .init(milliseconds: row["updated_at"]), lastMessage: row["last_text"],
                    unreadCount: row["unread"], mute: Self.mute(row))
            }
        }
    }

    private static func mute(_ row: Row) -> Messenger.Mute? {
        guard row["is_muted"] else { return nil }
        return .init(until: (row["muted_until"] as Int64?).map { .init(milliseconds: $0) })
    }

    private static func peer(_ row: Row) -> Messenger.ChatPeer? {
        (row["peer"] as Int64?).map { id in
            .init(
                id: .init(id), username: row["peer_username"], displayName: row["peer_name"],
                avatar: (row["peer_avatar"] as Int64?).map { .init($0) })
        }
    }

    func members(of chat: Messenger.Chat.ID) throws -> [Messenger.Member] {
        try pool.read { db in
            try Row.fetchAll(
                db,
                literal: """
                    SELECT user, username, display_name, role FROM members WHERE chat = \(chat.rawValue)
                    ORDER BY position
                    """
            ).map {
                .init(id: .init($0[0]), username: $0[1], displayName: $0[2], role: .init(rawValue: $0[3]))
            }
        }
    }

    func marks(in chat: Messenger.Chat.ID) throws -> [Messenger.User.ID: Messenger.Message.ID] {
        try pool.read { db in
            let rows = try Row.fetchAll(db, literal: "SELECT user, message FROM marks WHERE chat = \(chat.rawValue)")
            return Dictionary(uniqueKeysWithValues: rows.map { (.init($0[0]), .init($0[1])) })
        }
    }

    /// Returns a message; nil when it is not on this device or was deleted.
    func message(_ id: Messenger.Message.ID) throws -> Messenger.Message? {
        try pool.read { db in
            try Row.fetchOne(
                db, literal: "SELECT \(Self.columns) FROM messages WHERE id = \(id.rawValue) AND NOT is_deleted"
            ).map(Self.message)
        }
    }

    func page(of chat: Messenger.Chat.ID, limit: Int) throws -> Page {
        try pool.read { db in
            let id = chat.rawValue
            // One more than is shown tells whether the oldest one follows a gap.
            let rows = try Row.fetchAll(
                db,
                literal: """
                    SELECT \(Self.columns), pending_content FROM messages
                    WHERE chat = \(id) AND NOT is_deleted AND NOT is_pending_deletion
                    ORDER BY id DESC LIMIT \(limit + 1)
                    """)
            let ranges = try Row.fetchAll(
                db, literal: "SELECT low, high FROM ranges WHERE chat = \(id) ORDER BY low DESC"
            ).map { Range(low: $0[0], high: $0[1]) }
            guard let top = ranges.first else { return Page() }
            var page = Page()
            for (index, row) in rows.prefix(limit).enumerated() {
                var message = Self.message(row)
                let pending: String? = row["pending_content"]
                if let pending { message.content = pending }
                let low = ranges.first { $0.low <= message.id.rawValue }?.low ?? 0
                let followsGap = index + 1 < rows.count && (rows[index + 1]["id"] as Int64) < low
                page.messages.append(
                    StoredMessage(message: message, isChanging: pending != nil, followsGap: followsGap))
            }
            let inTop = page.messages.count { $0.id.rawValue >= top.low }
            page.messages.reverse()
            page.hasOlder = rows.count > limit || top.low > 0
            if inTop < limit, top.low > 0 { page.hole = .init(top.low) }
            return page
        }
    }

    private static let columns: SQL = "id, chat, sender, content, type, file, created_at, edited_at"

    private static func message(_ row: Row) -> Messenger.Message {
        var message = Messenger.Message(
            id: .init(row["id"]), chat: .init(row["chat"]), sender: .init(row["sender"]), content: row["content"],
            type: .init(rawValue: row["type"]), file: (row["file"] as Int64?).map { .init($0) },
            createdAt: .init(milliseconds: row["created_at"]))
        message.edited = OrNull(wrappedValue: (row["edited_at"] as Int64?).map { .init(milliseconds: $0) })
        return message
    }

    /// Returns whether a message is known to be deleted.
    func isDeleted(_ message: Messenger.Message.ID) throws -> Bool {
        try pool.read { db in
            try Bool.fetchOne(
                db, literal: "SELECT EXISTS (SELECT 1 FROM messages WHERE id = \(message.rawValue) AND is_deleted)")!
        }
    }

    /// Returns the deleted messages of the user, or of an unknown sender, after a message.
    func hasDeletions(in chat: Messenger.Chat.ID, after message: Messenger.Message.ID) throws -> Bool {
        try pool.read { db in
            try Bool.fetchOne(
                db,
                literal: """
                    SELECT EXISTS (SELECT 1 FROM messages WHERE chat = \(chat.rawValue) AND id > \(message.rawValue)
                        AND is_deleted AND sender IN (0, \(user)))
                    """)!
        }
    }
}

/// Files on this device.
extension ChatCache {
    struct StoredFile {
        let id: Messenger.File.ID
        let name: String
        let size: Int64
    }

    func file(_ id: Messenger.File.ID, usedAt now: Int64) throws -> StoredFile? {
        try pool.write { db in
            try db.execute(literal: "UPDATE files SET used_at = \(now) WHERE id = \(id.rawValue)")
            return try Row.fetchOne(db, literal: "SELECT name, size FROM files WHERE id = \(id.rawValue)").map {
                StoredFile(id: id, name: $0[0], size: $0[1])
            }
        }
    }

    func add(_ file: StoredFile, type: String?, usedAt now: Int64) throws {
        try pool.write { db in
            try db.execute(
                literal: """
                    INSERT OR REPLACE INTO files VALUES (\(file.id.rawValue), \(file.name), \(type), \(file.size), \(now))
                    """)
        }
    }

    func forget(_ file: Messenger.File.ID) throws {
        try pool.write { try $0.execute(literal: "DELETE FROM files WHERE id = \(file.rawValue)") }
    }

    /// Forgets the files that were not used for the longest time, until the others fit into a number of bytes.
    ///
    /// - Parameter kept: A file that stays.
    /// - Returns: The forgotten files.
    func forgetFiles(beyond limit: Int64, except kept: Messenger.File.ID) throws -> [Messenger.File.ID] {
        try pool.write { db in
            var total = try Int64.fetchOne(db, sql: "SELECT TOTAL(size) FROM files") ?? 0
            var forgotten: [Messenger.File.ID] = []
            for row in try Row.fetchAll(db, sql: "SELECT id, size FROM files ORDER BY used_at, id") where total > limit
            {
                let (id, size): (Int64, Int64) = (row[0], row[1])
                guard id != kept.rawValue else { continue }
                try db.execute(literal: "DELETE FROM files WHERE id = \(id)")
                total -= size
                forgotten.append(.init(id))
            }
            return forgotten
        }
    }
}
