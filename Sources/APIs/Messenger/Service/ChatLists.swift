import Contract
import Database
import MessengerAPI

extension Chats {
    /// The parts of chats that a list has when it is asked for them.
    struct Parts {
        let unread: Bool
        let peer: Bool
        let newest: Bool
        let muted: Bool

        init(_ include: Messenger.Inclusions?) {
            unread = include?.contains(.unread) ?? false
            peer = include?.contains(.peer) ?? false
            newest = include?.contains(.newest) ?? false
            muted = include?.contains(.muted) ?? false
        }
    }

    /// Returns the caller's chats, the newest message first, by whole seconds as clients see them, then by id. With
    /// `before`, the page begins behind that chat.
    static func page(
        of user: Messenger.User.ID, before: Messenger.Chat.ID?, limit: Int, with parts: Parts, at now: Int64,
        in db: Session
    ) throws -> [Messenger.ChatSummary] {
        let caller = db.unplanned(user)
        let unread: SQL =
            parts.unread
            ? """
            (SELECT COUNT(*) FROM messages u WHERE u.chat_id = c.id AND u.id > COALESCE(me.last_read_id, 0)
                AND u.sender_id <> \(caller))
            """ : "NULL"
        let rest: SQL =
            before.map { before in
                """
                AND (c.updated_at / 1000, c.id) < (SELECT b.updated_at / 1000, b.id FROM chats b
                    JOIN members mb ON mb.chat_id = b.id AND mb.user_id = \(caller) WHERE b.id = \(before))
                """
            } ?? ""
        let order: SQL = "ORDER BY c.updated_at / 1000 DESC, c.id DESC"
        let muted: SQL = parts.muted ? "CASE WHEN me.muted_until > \(now) THEN me.muted_until END" : "NULL"
        let (chats, mine): (SQL, SQL) =
            parts.unread || parts.muted
            ? ("members me JOIN chats c ON c.id = me.chat_id", "me.user_id = \(caller)")
            : ("\(db.rows(of: "chats", in: "SELECT chat_id AS key FROM members WHERE user_id = \(caller)")) c", "TRUE")
        func page(_ columns: SQL) -> SQL {
            """
            SELECT \(ChatColumn.list), \(columns) FROM \(chats) WHERE \(mine) \(rest) \(order) LIMIT \(limit)
            """
        }
        guard parts.peer || parts.newest || parts.muted else {
            let summary = { @Sendable (row: borrowing Row) in
                try Messenger.ChatSummary(
                    row: row, lastMessage: try row.get(ChatColumn.list.count),
                    unread: try row.get(ChatColumn.list.count + 1))
            }
            if before == nil, limit == Messenger.ListChats.maximum, db.isInProcess,
                let whole = try all(
                    """
                    SELECT \(ChatColumn.list), n.content, \(unread) FROM \(chats) LEFT JOIN messages n ON n.id = (
                        SELECT m.id FROM messages m WHERE m.chat_id = c.id ORDER BY m.id DESC LIMIT 1)
                    WHERE \(mine) LIMIT \(limit + 1)
                    """, summary, in: db)
            {
                return whole
            }
            let newest: SQL = "(SELECT m.content FROM messages m WHERE m.chat_id = c.id ORDER BY m.id DESC LIMIT 1)"
            return try db.finish(.all(page("\(newest), \(unread)"), summary))
        }
        // The parts are joined to the page, so that an engine reads them for its rows alone.
        let columns = page(
            """
            (SELECT m.id FROM messages m WHERE m.chat_id = c.id ORDER BY m.id DESC LIMIT 1) AS newest_id,
            \(unread) AS unread, \(muted) AS muted_until,
            CASE c.direct_low WHEN \(caller) THEN c.direct_high ELSE c.direct_low END AS peer_id
            """)
        let summaries: SQL = """
            SELECT \(ChatColumn.list), \(PartColumn.list),
                CASE WHEN EXISTS (SELECT 1 FROM blocks b WHERE b.blocker_id = p.id AND b.blocked_id = \(caller))
                    THEN NULL ELSE p.avatar_file_id END
            FROM (\(columns)) c
            LEFT JOIN messages m ON m.id = c.newest_id
            LEFT JOIN users p ON p.id = c.peer_id AND p.deleted_at IS NULL
            \(order)
            """
        return try db.finish(
            .all(summaries) { row in
                let message = try Messenger.Message(newestIn: row)
                var chat = try Messenger.ChatSummary(
                    row: row, lastMessage: message?.content,
                    unread: try row.get(PartColumn.unread, behind: ChatColumn.list.count))
                if parts.peer { chat.describedPeer = .init(wrappedValue: try Messenger.ChatPeer(row: row)) }
                if parts.newest { chat.describedMessage = .init(wrappedValue: message) }
                if parts.muted {
                    let end: Int64? = try row.get(PartColumn.mutedUntil, behind: ChatColumn.list.count)
                    chat.describedMute = .init(wrappedValue: end.map(Muting.value))
                }
                return chat
            })
    }

    /// Returns all chats of a query in their order, or nil when they are more than one answer may have.
    ///
    /// They are sorted here, because SQLite would build a tree of whole rows. The query joins the newest messages, because for
    /// a text in a subquery SQLite would open the table of messages anew for each chat.
    private static func all(
        _ chats: SQL, _ summary: (borrowing Row) throws -> Messenger.ChatSummary, in db: Session
    ) throws -> [Messenger.ChatSummary]? {
        let all = try db.all(chats, summary)
        guard all.count <= Messenger.ListChats.maximum else { return nil }
        var order = all.indices.map { index in
            (second: all[index].updatedAt.milliseconds / 1000, id: all[index].id.rawValue, index: index)
        }
        order.sort { $0.second != $1.second ? $0.second > $1.second : $0.id > $1.id }
        return order.map { all[$0.index] }
    }
}

/// The columns of a chat `c` in every list of chats.
private enum ChatColumn: String, Columns {
    case id = "c.id"
    case type = "c.type"
    case name = "c.name"
    case updatedAt = "c.updated_at"

    static let list = ColumnList(Self.self)
}

/// What stands behind them where the parts of a chat are asked for: its peer `p`, whose avatar is the last, and its newest
/// message `m`.
private enum PartColumn: String, Columns {
    case unread = "c.unread"
    case mutedUntil = "c.muted_until"
    case peer = "p.id"
    case username = "p.username"
    case displayName = "p.display_name"
    case message = "m.id"
    case sender = "m.sender_id"
    case content = "m.content"
    case type = "m.type"
    case file = "m.file_id"
    case createdAt = "m.created_at"

    static let list = ColumnList(Self.self)
}

extension Messenger.ChatSummary {
    fileprivate init(row: borrowing Row, lastMessage: String?, unread: Int?) throws {
        self.init(
            id: try row.get(ChatColumn.id), type: try row.get(ChatColumn.type), name: try row.get(ChatColumn.name),
            updatedAt: try row.get(ChatColumn.updatedAt),
            lastMessage: lastMessage, unreadCount: unread)
    }
}

extension Messenger.ChatPeer {
    fileprivate init?(row: borrowing Row) throws {
        let chat = ChatColumn.list.count
        guard let id: Messenger.User.ID = try row.get(PartColumn.peer, behind: chat) else { return nil }
        self.init(
            id: id, username: try row.get(PartColumn.username, behind: chat),
            displayName: try row.get(PartColumn.displayName, behind: chat),
            avatar: try row.get(chat + PartColumn.list.count))
    }
}

extension Messenger.Message {
    fileprivate init?(newestIn row: borrowing Row) throws {
        let chat = ChatColumn.list.count
        guard let id: ID = try row.get(PartColumn.message, behind: chat) else { return nil }
        self.init(
            id: id, chat: try row.get(ChatColumn.id), sender: try row.get(PartColumn.sender, behind: chat),
            content: try row.get(PartColumn.content, behind: chat), type: try row.get(PartColumn.type, behind: chat),
            file: try row.get(PartColumn.file, behind: chat), createdAt: try row.get(PartColumn.createdAt, behind: chat)
        )
    }
}
