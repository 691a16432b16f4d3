import Backend
import Contract
import ContractServer
import Database
import DeuceDiaryAPI
import HTTPTypes

extension DeuceDiaryService {
    /// The milliseconds by which a device's clock may be ahead.
    static let clockTolerance: Int64 = 60_000

    func entries(_ routes: inout Routes<DeuceDiary, Caller>) {
        routes.on(answering: logDeuce)
        routes.on(use: listDeuces)
        routes.on(use: deleteDeuce)
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
        let flagged = settings.flaggedWords.finding(in: request)
        return try await database.write(info.idempotencyKey, errorMessages: DeuceDiary.errorMessages, at: now) {
            [makeID, publisher] db in
            try Entries.requireMember(caller.user, ofEach: groups, in: db)
            let (createdAt, events) = try Entries.beginLog(in: groups, at: now, db)
            // This is checked again behind the lock: a membership may have ended while this transaction waited.
            try Entries.requireMember(caller.user, ofEach: groups, in: db)
            let entries = groups.map { group in
                DeuceDiary.DeuceEntry(
                    id: .init(makeID()), userId: caller.user, groupId: group, location: request.location.trimmed,
                    thoughts: request.thoughts ?? "", loggedAt: loggedAt,
                    createdAt: .init(milliseconds: createdAt))
            }
            let log = makeID()
            for entry in entries {
                try Entries.insert(entry, of: log, in: db)
                try Reports.Queue.flag(flagged, { _ in entry.reportedCopy }, by: caller.user, at: now, in: db)
            }
            guard let user = try Users.countLog(of: caller.user, at: now, in: db) else {
                throw IssuerAccounts.unauthorized
            }
            try Days.count(loggedAt, of: caller.user, in: db)
            for entry in entries {
                let number = events[entry.groupId].map { EventNumber($0, of: entry.groupId) }
                publisher.publish(.logged(entry, by: user), short: .entry(entry.id), as: number, in: db)
            }
            return Answer(.ok, .init(entries: entries))
        }
    }

    func listDeuces(_ request: DeuceDiary.ListDeuces, from caller: Caller) async throws -> [DeuceDiary.FeedItem] {
        let limit = min(request.limit ?? DeuceDiary.ListDeuces.usual, DeuceDiary.ListDeuces.maximum)
        return try await database.read(from: .replica) { db in
            if let group = request.group {
                guard try Groups.one(group, in: db) != nil else { throw Groups.notFound }
                try Groups.requireMember(caller.user, of: group, in: db)
            }
            if let before = request.before {
                guard let group = try Entries.group(of: before, in: db), group == request.group ?? group,
                    try Groups.isMember(caller.user, of: group, in: db)
                else { throw Groups.invalidCursor }
            }
            let query = try Feed.pageQuery(
                of: caller.user, in: request.group, before: request.before, limit: limit, in: db)
            var authors: [DeuceDiary.User.ID: Shared<DeuceDiary.User>] = [:]
            var entries = try db.all(query) { row in
                let entry = try DeuceDiary.DeuceEntry(row: row)
                if let known = authors[entry.userId] { return DeuceDiary.FeedEntry(entry, by: known) }
                let author = Shared(wrappedValue: try DeuceDiary.User(row: row, at: Entries.Column.list.count))
                authors[entry.userId] = author
                return DeuceDiary.FeedEntry(entry, by: author)
            }
            entries.sort { ($0.value.createdAt, $0.value.id) > ($1.value.createdAt, $1.value.id) }
            let reactions = try Reactions.all(on: entries.map(\.id), in: db)
            return entries.map { .init($0, reactions: reactions[$0.id] ?? []) }
        }
    }

    func deleteDeuce(_ request: DeuceDiary.DeleteDeuce, from caller: Caller) async throws -> DeuceDiary.Confirmation {
        let now = time.milliseconds()
        try await database.write { db in
            guard let group = try Entries.group(of: request.entry, in: db), try Groups.lock(group, in: db),
                let author = try Entries.author(of: request.entry, in: db)
            else { throw Entries.notFound }
            // Authors may delete their entries after they have left the group.
            guard author == caller.user else {
                guard try Groups.isMember(caller.user, of: group, in: db) else { throw Entries.notFound }
                throw Problem(.forbidden, "Not authorized to delete this entry")
            }
            // The author is locked, too, because the log's other entries may be deleted at the same time.
            try Users.lockCaller(author, in: db)
            try Entries.delete([request.entry], at: now, db)
        }
        return .init(message: "Entry deleted")
    }
}

/// The entries of all groups of a user, as one list.
enum Feed {
    static let table = ListTable<DeuceDiary.Group.ID, DeuceDiary.DeuceEntry.ID>(
        "entries", list: "group_id", time: "created_at")

    /// Returns the query for a page of the feed, in no order: the newest entries, behind `before` when given.
    static func pageQuery(
        of viewer: DeuceDiary.User.ID, in group: DeuceDiary.Group.ID?, before: DeuceDiary.DeuceEntry.ID?, limit: Int,
        in db: Session
    ) throws -> SQL {
        let groups = groupsQuery(of: viewer, in: group)
        let place: SQL? = before.map { "(SELECT b.created_at, b.id FROM entries b WHERE b.id = \($0))" }
        let newest = try db.newest(limit, of: table, in: groups, before: place)
        return """
            SELECT \(Entries.Column.list), \(Users.columns(for: viewer))
            FROM \(newest) n JOIN entries e ON e.id = n.id JOIN users u ON u.id = e.user_id
            """
    }

    static func groupsQuery(of viewer: DeuceDiary.User.ID, in group: DeuceDiary.Group.ID?) -> SQL {
        let only: SQL = group.map { "AND group_id = \($0)" } ?? ""
        return "SELECT group_id FROM members WHERE user_id = \(viewer) \(only)"
    }
}

enum Entries {
    static let notFound = Problem(.notFound, "Entry not found")

    /// - Throws: A `Problem` with 403 that names the first of the groups of which the user is not a member.
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

    /// Locks the groups' rows, as every transaction does that logs into them, and counts the new entries.
    ///
    /// - Returns: The time of the new entries in milliseconds, which is later than all existing entries. So the order
    ///   of entries in a group is the order of their commits, and a client that has read the newest has missed none
    ///   before it. With it come the numbers of the events that announce the entries.
    static func beginLog(
        in groups: [DeuceDiary.Group.ID], at now: Int64, _ db: Session
    ) throws -> (createdAt: Int64, events: [DeuceDiary.Group.ID: Int64]) {
        var createdAt = now
        var events: [DeuceDiary.Group.ID: Int64] = [:]
        // One order for all transactions avoids deadlocks.
        for group in groups.sorted() {
            let row = try db.update(
                "groups", set: "entry_count = entry_count + 1, events = events + 1", where: "id = \(group)",
                returning: "last_entry_at, events"
            ) { (last: try $0.get(0, as: Int64?.self), number: try $0.get(1, as: Int64.self)) }
            if let last = row?.last { createdAt = max(createdAt, last + 1) }
            events[group] = row?.number
        }
        try db.run(
            """
            UPDATE groups SET last_activity = \(createdAt), last_entry_at = \(createdAt)
            WHERE id IN (\(list: groups))
            """)
        return (createdAt, events)
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

    static func author(of id: DeuceDiary.DeuceEntry.ID, in db: Session) throws -> DeuceDiary.User.ID? {
        try db.value("SELECT user_id FROM entries WHERE id = \(id)")
    }

    /// Deletes entries of any authors, for an operator. The locks are taken in the order of all transactions: groups, then
    /// users.
    ///
    /// - Returns: Those that were there.
    static func deleteOfAnyone(
        _ ids: [DeuceDiary.DeuceEntry.ID], at now: Int64, _ db: Session
    ) throws -> [DeuceDiary.DeuceEntry.ID] {
        let groups: [DeuceDiary.Group.ID] = try db.all(
            "SELECT DISTINCT group_id FROM entries WHERE id IN (\(list: ids)) ORDER BY group_id"
        ) { try $0.get(0) }
        for group in groups { try Groups.lock(group, in: db) }
        let authors: [DeuceDiary.User.ID] = try db.all(
            "SELECT DISTINCT user_id FROM entries WHERE id IN (\(list: ids)) ORDER BY user_id"
        ) { try $0.get(0) }
        for author in authors { try Users.lock(author, in: db) }
        return try delete(ids, at: now, db)
    }

    private struct Removed {
        let id: DeuceDiary.DeuceEntry.ID
        let author: DeuceDiary.User.ID
        let group: DeuceDiary.Group.ID
        let log: String
        let loggedAt: DeuceDiary.Timestamp
    }

    /// Deletes entries, and updates the counts where they were the last of their logs. The caller has locked the groups
    /// and the authors.
    ///
    /// - Returns: Those that were there.
    @discardableResult
    static func delete(
        _ ids: [DeuceDiary.DeuceEntry.ID], at now: Int64, _ db: Session
    ) throws -> [DeuceDiary.DeuceEntry.ID] {
        try db.run("DELETE FROM reactions WHERE entry_id IN (\(list: ids))")
        let removed = try db.all(
            "DELETE FROM entries WHERE id IN (\(list: ids)) RETURNING id, user_id, group_id, log_id, logged_at"
        ) { row in
            Removed(
                id: try row.get(0), author: try row.get(1), group: try row.get(2), log: try row.get(3),
                loggedAt: try row.get(4))
        }
        guard !removed.isEmpty else { return [] }
        try Reports.Queue.end(.entry, removed.map(\.id.rawValue), at: now, in: db)
        for (group, entries) in Dictionary(grouping: removed, by: \.group).sorted(by: { $0.key < $1.key }) {
            try decrement(entries.count, in: group, db)
        }
        let logs = Dictionary(removed.map { ($0.log, $0) }) { first, _ in first }
        let left = Set(
            try db.all("SELECT DISTINCT log_id FROM entries WHERE log_id IN (\(list: Array(logs.keys)))") {
                try $0.get(0, as: String.self)
            })
        let ended = logs.values.filter { !left.contains($0.log) }
        for (author, logs) in Dictionary(grouping: ended, by: \.author).sorted(by: { $0.key < $1.key }) {
            try Users.decrementLogs(by: logs.count, of: author, at: now, in: db)
            for (day, logs) in Dictionary(grouping: logs, by: { Days.day(of: $0.loggedAt) }) {
                try Days.decrement(logs.count, on: day, of: author, in: db)
            }
        }
        return removed.map(\.id)
    }

    /// Deletes everything that a user has written in a group. The user's counts are not updated.
    static func delete(of author: DeuceDiary.User.ID, in group: DeuceDiary.Group.ID, _ db: Session) throws {
        try db.run(
            """
            DELETE FROM reactions WHERE entry_id IN (
                SELECT id FROM entries WHERE user_id = \(author) AND group_id = \(group))
            """)
        let count = try db.run("DELETE FROM entries WHERE user_id = \(author) AND group_id = \(group)")
        if count > 0 { try decrement(count, in: group, db) }
    }

    private static func decrement(_ entries: Int, in group: DeuceDiary.Group.ID, _ db: Session) throws {
        try db.run(
            """
            UPDATE groups SET entry_count = entry_count - \(entries),
                last_activity = (SELECT MAX(created_at) FROM entries WHERE group_id = \(group))
            WHERE id = \(group)
            """)
    }

    /// Returns, for each user and day, the number of logs whose entries are all in one group.
    static func logs(
        onlyIn group: DeuceDiary.Group.ID, in db: Session
    ) throws -> [(user: DeuceDiary.User.ID, day: Int64, logs: Int)] {
        try db.all(
            """
            SELECT e.user_id, e.logged_at / \(Days.length), COUNT(*) FROM entries e
            WHERE e.group_id = \(group) AND NOT EXISTS (
                SELECT 1 FROM entries o WHERE o.log_id = e.log_id AND o.group_id <> e.group_id)
            GROUP BY 1, 2
            """
        ) { row in (try row.get(0), try row.get(1), try row.get(2)) }
    }

    /// Returns the query for a user's entries, the newest first, behind `last` when given, whether or not that entry
    /// still exists.
    static func exportQuery(of author: DeuceDiary.User.ID, behind last: DeuceDiary.DeuceEntry?, limit: Int) -> SQL {
        let rest: SQL = last.map { "AND (e.created_at, e.id) < (\($0.createdAt), \($0.id))" } ?? ""
        return """
            SELECT \(Column.list) FROM entries e WHERE e.user_id = \(author) \(rest)
            ORDER BY e.created_at DESC, e.id DESC LIMIT \(limit)
            """
    }

    /// The columns of an entry `e`, which ``DeuceDiaryAPI/DeuceDiary/DeuceEntry/init(row:)`` reads.
    enum Column: String, Columns {
        case id = "e.id"
        case userId = "e.user_id"
        case groupId = "e.group_id"
        case location = "e.location"
        case thoughts = "e.thoughts"
        case loggedAt = "e.logged_at"
        case createdAt = "e.created_at"

        static let list = ColumnList(Self.self)
    }

    /// Returns the query for a page of a group's entries, the newest first, behind `before` when given.
    static func pageQuery(of group: DeuceDiary.Group.ID, before: DeuceDiary.DeuceEntry.ID?, limit: Int) -> SQL {
        let rest: SQL =
            before.map { "AND (e.created_at, e.id) < (SELECT b.created_at, b.id FROM entries b WHERE b.id = \($0))" }
            ?? ""
        return """
            SELECT \(Column.list) FROM entries e
            WHERE e.group_id = \(group) \(rest) ORDER BY e.created_at DESC, e.id DESC LIMIT \(limit)
            """
    }

    static func one(_ id: DeuceDiary.DeuceEntry.ID, in db: Session) throws -> DeuceDiary.DeuceEntry? {
        try db.one("SELECT \(Column.list) FROM entries e WHERE e.id = \(id)", DeuceDiary.DeuceEntry.init(row:))
    }
}

extension DeuceDiary.DeuceEntry {
    init(row: borrowing Row) throws {
        self.init(
            id: try row.get(Entries.Column.id), userId: try row.get(Entries.Column.userId),
            groupId: try row.get(Entries.Column.groupId), location: try row.get(Entries.Column.location),
            thoughts: try row.get(Entries.Column.thoughts), loggedAt: try row.get(Entries.Column.loggedAt),
            createdAt: try row.get(Entries.Column.createdAt))
    }
}
