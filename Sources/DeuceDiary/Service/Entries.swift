import Backend
import Contract
import ContractServer
import Database
import DeuceDiaryAPI
import HTTPTypes

extension DeuceDiaryService {
    /// How far a device's clock may be ahead, in milliseconds.
    static let clockTolerance: Int64 = 60_000

    func entries(_ routes: inout Routes<DeuceDiary, Caller>) {
        routes.on(answering: logDeuce)
    }

    func logDeuce(
        _ request: DeuceDiary.LogDeuce, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<DeuceDiary.LoggedDeuce> {
        let now = time.milliseconds()
        let loggedAt = request.loggedAt ?? .init(milliseconds: now)
        guard loggedAt.milliseconds <= now + Self.clockTolerance else {
            throw Problem(.badRequest, "Cannot log a deuce in the future")
        }
        let groups = request.distinctGroups
        return try await database.write(info.once, phrases: DeuceDiary.phrases, at: now) { [makeID, announcer] db in
            try Entries.requireMember(caller.user, ofEach: groups, in: db)
            let createdAt = try Entries.beginLog(in: groups, at: now, db)
            let entries = groups.map { group in
                DeuceDiary.DeuceEntry(
                    id: .init(makeID()), userId: caller.user, groupId: group, location: request.location.trimmed,
                    thoughts: request.thoughts ?? "", loggedAt: loggedAt,
                    createdAt: .init(milliseconds: createdAt))
            }
            let log = makeID()
            for entry in entries { try Entries.insert(entry, of: log, in: db) }
            try Days.count(loggedAt, of: caller.user, in: db)
            guard let user = try Users.countLog(of: caller.user, at: now, in: db) else { throw Accounts.unauthorized }
            try announcer.announce(.logged(entries, by: user), inShort: .log(log), in: db)
            return Answer(.ok, .init(entries: entries))
        }
    }
}

enum Entries {
    /// - Throws: 403 that names the first of the groups that is closed to the user.
    static func requireMember(
        _ user: DeuceDiary.User.ID, ofEach groups: [DeuceDiary.Group.ID], in db: Session
    ) throws {
        let open: [DeuceDiary.Group.ID] = try db.all(
            "SELECT group_id FROM members WHERE user_id = \(user) AND group_id IN (\(list: groups))"
        ) { try $0.get(0) }
        if let closed = groups.first(where: { !open.contains($0) }) {
            throw Problem(.forbidden, "Not authorized for group \(closed)")
        }
    }

    /// Puts this transaction in line with others that log into one of the groups, and counts the entries it will make.
    ///
    /// - Returns: When they are made, in milliseconds: later than every entry that is there. So the order of entries in a
    ///   group is the order of their commits, and whoever has seen the newest has missed none before it.
    static func beginLog(in groups: [DeuceDiary.Group.ID], at now: Int64, _ db: Session) throws -> Int64 {
        var createdAt = now
        // In one order, so that no two wait for each other.
        for group in groups.sorted() {
            let last: Int64?? = try db.value(
                "UPDATE groups SET entry_count = entry_count + 1 WHERE id = \(group) RETURNING last_activity")
            if let last = last ?? nil { createdAt = max(createdAt, last + 1) }
        }
        try db.run("UPDATE groups SET last_activity = \(createdAt) WHERE id IN (\(list: groups))")
        return createdAt
    }

    static func insert(_ entry: DeuceDiary.DeuceEntry, of log: String, in db: Session) throws {
        try db.run(
            """
            INSERT INTO entries (id, log_id, user_id, group_id, location, thoughts, logged_at, created_at)
            VALUES (\(entry.id), \(log), \(entry.userId), \(entry.groupId), \(entry.location), \(entry.thoughts),
                \(entry.loggedAt), \(entry.createdAt))
            """)
    }

    static func isEntry(
        _ id: DeuceDiary.DeuceEntry.ID, of group: DeuceDiary.Group.ID, in db: Session
    ) throws -> Bool {
        try db.exists("SELECT 1 FROM entries WHERE id = \(id) AND group_id = \(group)")
    }

    static func group(of id: DeuceDiary.DeuceEntry.ID, in db: Session) throws -> DeuceDiary.Group.ID? {
        try db.value("SELECT group_id FROM entries WHERE id = \(id)")
    }

    private static let columns: SQL =
        "e.id, e.user_id, e.group_id, e.location, e.thoughts, e.logged_at, e.created_at"

    /// Newest first, behind `before` when given.
    static func page(
        of group: DeuceDiary.Group.ID, before: DeuceDiary.DeuceEntry.ID?, limit: Int, for viewer: DeuceDiary.User.ID
    ) -> Query<[DeuceDiary.FeedEntry]> {
        .all(pageQuery(of: group, before: before, limit: limit, for: viewer)) { row in
            .init(try DeuceDiary.DeuceEntry(row: row), by: try .init(row: row, at: 7))
        }
    }

    static func pageQuery(
        of group: DeuceDiary.Group.ID, before: DeuceDiary.DeuceEntry.ID?, limit: Int, for viewer: DeuceDiary.User.ID
    ) -> SQL {
        let rest: SQL =
            before.map { "AND (e.created_at, e.id) < (SELECT b.created_at, b.id FROM entries b WHERE b.id = \($0))" }
            ?? ""
        return """
            SELECT \(columns), \(Users.columns(for: viewer)) FROM entries e JOIN users u ON u.id = e.user_id
            WHERE e.group_id = \(group) \(rest) ORDER BY e.created_at DESC, e.id DESC LIMIT \(limit)
            """
    }

    static func all(of log: String, in db: Session) throws -> [DeuceDiary.DeuceEntry] {
        try db.all(logQuery(log), DeuceDiary.DeuceEntry.init(row:))
    }

    static func logQuery(_ log: String) -> SQL { "SELECT \(columns) FROM entries e WHERE e.log_id = \(log)" }
}

extension DeuceDiary.DeuceEntry {
    init(row: borrowing Row) throws {
        self.init(
            id: try row.get(0), userId: try row.get(1), groupId: try row.get(2), location: try row.get(3),
            thoughts: try row.get(4), loggedAt: try row.get(5), createdAt: try row.get(6))
    }
}
