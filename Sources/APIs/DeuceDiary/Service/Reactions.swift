import Backend
import Contract
import ContractServer
import Database
import DeuceDiaryAPI
import HTTPTypes

extension DeuceDiaryService {
    func reactions(_ routes: inout Routes<DeuceDiary, Caller>) {
        routes.on(answering: addReaction)
        routes.on(use: removeReaction)
        routes.on(use: listReactions)
    }

    func addReaction(
        _ request: DeuceDiary.AddReaction, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<DeuceDiary.Reaction> {
        let now = time.milliseconds()
        return try await database.write(info.idempotencyKey, errorMessages: DeuceDiary.errorMessages, at: now) { db in
            // The lock waits for transactions that delete the entry or end the membership.
            if let group = try Entries.group(of: request.entry, in: db) { try Groups.lock(group, in: db) }
            try Reactions.require(
                caller.user, toSee: request.entry, or: "Not authorized to react to this entry", in: db)
            if let author = try Entries.author(of: request.entry, in: db),
                try Blocks.exist(between: caller.user, and: author, in: db)
            {
                throw Problem(.forbidden, "Not authorized to react to this entry")
            }
            return Answer(.ok, try Reactions.insert(request.emoji, on: request.entry, by: caller.user, at: now, in: db))
        }
    }

    func removeReaction(
        _ request: DeuceDiary.RemoveReaction, from caller: Caller
    ) async throws -> DeuceDiary.Confirmation {
        try await database.write { db in
            try db.run(
                """
                DELETE FROM reactions
                WHERE entry_id = \(request.entry) AND user_id = \(caller.user) AND emoji = \(request.emoji)
                """)
        }
        return .init(message: "Reaction removed")
    }

    func listReactions(
        _ request: DeuceDiary.ListReactions, from caller: Caller
    ) async throws -> [DeuceDiary.UserReaction] {
        let limit = min(request.limit ?? .max, DeuceDiary.ListReactions.maximum)
        return try await database.read(from: .replica) { db in
            try Reactions.require(
                caller.user, toSee: request.entry, or: "Not authorized to access this entry", in: db)
            if let after = request.after {
                guard try Reactions.isReaction(after, on: request.entry, in: db) else { throw Groups.invalidCursor }
            }
            return try Reactions.page(of: request.entry, after: request.after, limit: limit, for: caller.user, in: db)
        }
    }
}

enum Reactions {
    /// Requires that a user may see an entry.
    ///
    /// - Throws: A `Problem` with 404 when there is no such entry, with 403 and this message when the user is not in
    ///   its group.
    static func require(
        _ user: DeuceDiary.User.ID, toSee entry: DeuceDiary.DeuceEntry.ID, or refusal: String, in db: Session
    ) throws {
        guard let group = try Entries.group(of: entry, in: db) else { throw Entries.notFound }
        guard try Groups.isMember(user, of: group, in: db) else { throw Problem(.forbidden, refusal) }
    }

    /// - Throws: A `Problem` with 400 when the user has already reacted with the same emoji.
    static func insert(
        _ emoji: String, on entry: DeuceDiary.DeuceEntry.ID, by user: DeuceDiary.User.ID, at now: Int64,
        in db: Session
    ) throws -> DeuceDiary.Reaction {
        let id: DeuceDiary.Reaction.ID? = try db.insert(
            """
            INSERT INTO reactions (entry_id, user_id, emoji, created_at)
            VALUES (\(entry), \(user), \(emoji), \(now))
            ON CONFLICT (entry_id, user_id, emoji) DO NOTHING
            """)
        guard let id else { throw Problem(.badRequest, "You've already reacted with this emoji") }
        return .init(id: id, entryId: entry, userId: user, emoji: emoji, createdAt: .init(milliseconds: now))
    }

    static func isReaction(
        _ id: DeuceDiary.Reaction.ID, on entry: DeuceDiary.DeuceEntry.ID, in db: Session
    ) throws -> Bool {
        try db.exists("SELECT 1 FROM reactions WHERE id = \(id) AND entry_id = \(entry)")
    }

    /// Returns the reactions to some entries, the oldest first, and for each entry as many as a list shows.
    static func all(
        on entries: [DeuceDiary.DeuceEntry.ID], in db: Session
    ) throws -> [DeuceDiary.DeuceEntry.ID: [DeuceDiary.Reaction]] {
        let all = try db.all(
            """
            SELECT \(columns) FROM (
                SELECT r.*, ROW_NUMBER() OVER (PARTITION BY r.entry_id ORDER BY r.created_at, r.id) AS place
                FROM reactions r WHERE r.entry_id IN (\(list: entries))) r
            WHERE r.place <= \(DeuceDiary.ListReactions.maximum) ORDER BY r.entry_id, r.place
            """, DeuceDiary.Reaction.init(row:))
        return Dictionary(grouping: all, by: \.entryId)
    }

    /// Returns the newest reaction of a user.
    static func newest(of user: DeuceDiary.User.ID, in db: Session) throws -> DeuceDiary.Reaction? {
        try db.one(
            """
            SELECT \(columns) FROM reactions r WHERE r.user_id = \(user)
            ORDER BY r.created_at DESC, r.id DESC LIMIT 1
            """, DeuceDiary.Reaction.init(row:))
    }

    /// Returns the query for a user's reactions, the oldest first, up to `newest` and behind `last` when given, whether
    /// or not those still exist.
    static func exportQuery(
        of user: DeuceDiary.User.ID, behind last: DeuceDiary.Reaction?, to newest: DeuceDiary.Reaction, limit: Int
    ) -> SQL {
        let rest: SQL = last.map { "AND (r.created_at, r.id) > (\($0.createdAt), \($0.id))" } ?? ""
        return """
            SELECT \(columns) FROM reactions r
            WHERE r.user_id = \(user) AND (r.created_at, r.id) <= (\(newest.createdAt), \(newest.id)) \(rest)
            ORDER BY r.created_at, r.id LIMIT \(limit)
            """
    }

    private static let columns: SQL = "r.id, r.entry_id, r.user_id, r.emoji, r.created_at"

    /// Returns a page of an entry's reactions, the oldest first, behind `after` when given.
    static func page(
        of entry: DeuceDiary.DeuceEntry.ID, after: DeuceDiary.Reaction.ID?, limit: Int,
        for viewer: DeuceDiary.User.ID, in db: Session
    ) throws -> [DeuceDiary.UserReaction] {
        try db.all(pageQuery(of: entry, after: after, limit: limit, for: viewer)) { row in
            .init(try DeuceDiary.Reaction(row: row), by: try .init(row: row, at: 5))
        }
    }

    static func pageQuery(
        of entry: DeuceDiary.DeuceEntry.ID, after: DeuceDiary.Reaction.ID?, limit: Int,
        for viewer: DeuceDiary.User.ID
    ) -> SQL {
        let rest: SQL =
            after.map { "AND (r.created_at, r.id) > (SELECT a.created_at, a.id FROM reactions a WHERE a.id = \($0))" }
            ?? ""
        return """
            SELECT \(columns), \(Users.columns(for: viewer))
            FROM reactions r JOIN users u ON u.id = r.user_id
            WHERE r.entry_id = \(entry) \(rest) ORDER BY r.created_at, r.id LIMIT \(limit)
            """
    }
}

extension DeuceDiary.Reaction {
    init(row: borrowing Row) throws {
        self.init(
            id: try row.get(0), entryId: try row.get(1), userId: try row.get(2), emoji: try row.get(3),
            createdAt: try row.get(4))
    }
}
