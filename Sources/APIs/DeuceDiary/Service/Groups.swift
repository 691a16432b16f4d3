import Backend
import Contract
import ContractServer
import Database
import DeuceDiaryAPI
import HTTPTypes

extension DeuceDiaryService {
    func groups(_ routes: inout Routes<DeuceDiary, Caller>) {
        routes.on(answering: createGroup)
        routes.on(use: listGroups)
        routes.on(use: getGroup)
    }

    func createGroup(
        _ request: DeuceDiary.CreateGroup, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<DeuceDiary.Group> {
        let now = time.milliseconds()
        let description = request.description?.trimmed ?? ""
        let flagged = settings.flaggedWords.finding(in: request)
        return try await database.write(info.idempotencyKey, errorMessages: DeuceDiary.errorMessages, at: now) {
            [makeID] db in
            try Users.lockCaller(caller.user, in: db)
            let group = DeuceDiary.Group(
                id: .init(makeID()), name: request.name.trimmed, description: description.isEmpty ? nil : description,
                createdBy: caller.user, createdAt: .init(milliseconds: now), updatedAt: .init(milliseconds: now))
            try Groups.insert(group, in: db)
            try Reports.Queue.flag(flagged, person: caller.user, at: now, in: db)
            return Answer(.ok, group)
        }
    }

    func listGroups(
        _ request: DeuceDiary.ListGroups, from caller: Caller
    ) async throws -> [DeuceDiary.GroupSummary] {
        let limit = min(request.limit ?? .max, DeuceDiary.ListGroups.maximum)
        return try await database.read(from: .replica) { db in
            if let before = request.before {
                guard try Groups.isMember(caller.user, of: before, in: db) else { throw Groups.invalidCursor }
            }
            return try Groups.page(of: caller.user, before: request.before, limit: limit, in: db)
        }
    }

    func getGroup(_ request: DeuceDiary.GetGroup, from caller: Caller) async throws -> DeuceDiary.GroupDetail {
        let limit = min(request.limit ?? .max, DeuceDiary.GetGroup.maximum)
        return try await database.read(from: .replica) { db in
            guard let group = try Groups.one(request.group, in: db) else {
                throw Groups.notFound
            }
            try Groups.requireMember(caller.user, of: group.id, in: db)
            if let before = request.before {
                guard try Entries.isEntry(before, of: group.id, in: db) else { throw Groups.invalidCursor }
            }
            let (members, entries) = try db.both(
                Groups.members(of: group.id, for: caller.user),
                .all(
                    Entries.pageQuery(of: group.id, before: request.before, limit: limit),
                    DeuceDiary.DeuceEntry.init(row:)))
            // Most authors are members, whose profiles are there.
            var authors = Dictionary(uniqueKeysWithValues: members.map { ($0.userId, Shared(wrappedValue: $0.user)) })
            let others = Set(entries.lazy.map(\.userId).filter { authors[$0] == nil })
            for author in try Users.all(Array(others), for: caller.user, in: db) {
                authors[author.id] = Shared(wrappedValue: author)
            }
            return DeuceDiary.GroupDetail(
                group: group, members: members,
                entries: entries.compactMap { entry in authors[entry.userId].map { .init(entry, by: $0) } })
        }
    }
}

enum Groups {
    static let notFound = Problem(.notFound, "Group not found")
    static let notAuthorized = Problem(.forbidden, "Not authorized")
    static let invalidCursor = Problem(.badRequest, "Invalid cursor")

    /// Requires that a user is a member of a group.
    ///
    /// - Throws: A `Problem` with 403, also for a group that does not exist.
    static func requireMember(_ user: DeuceDiary.User.ID, of group: DeuceDiary.Group.ID, in db: Session) throws {
        guard try isMember(user, of: group, in: db) else { throw notAuthorized }
    }

    static func isMember(
        _ user: DeuceDiary.User.ID, of group: DeuceDiary.Group.ID, in db: Session
    ) throws -> Bool {
        try db.exists("SELECT 1 FROM members WHERE group_id = \(group) AND user_id = \(user)")
    }

    /// Locks a group's row until the transaction ends. Every write in a group takes this lock first. Several groups are
    /// locked in the order of their ids, and users after groups, so that there are no deadlocks.
    ///
    /// - Returns: False when there is no such group.
    @discardableResult
    static func lock(_ group: DeuceDiary.Group.ID, in db: Session) throws -> Bool {
        try db.lock("groups", where: "id = \(group)") > 0
    }

    /// Counts an event of a group, behind the lock of its row.
    ///
    /// - Returns: The event's number; nil when the group was deleted.
    static func countEvent(
        of group: DeuceDiary.Group.ID, in db: Session
    ) throws -> EventNumber<DeuceDiary.Group.ID>? {
        try db.update("groups", set: "events = events + 1", where: "id = \(group)", returning: "events") {
            EventNumber(try $0.get(0), of: group)
        }
    }

    static func isInAny(_ user: DeuceDiary.User.ID, _ db: Session) throws -> Bool {
        try db.exists("SELECT 1 FROM members WHERE user_id = \(user) LIMIT 1")
    }

    /// Creates the group that every user has from the start.
    static func insertSolo(
        for user: DeuceDiary.User.ID, id: DeuceDiary.Group.ID, at now: Int64, in db: Session
    ) throws {
        try insert(
            .init(
                id: id, name: "Solo Deuces", description: "Your personal throne log", createdBy: user,
                createdAt: .init(milliseconds: now), updatedAt: .init(milliseconds: now)),
            in: db)
    }

    /// Adds a group, with its creator as its admin.
    static func insert(_ group: DeuceDiary.Group, in db: Session) throws {
        try db.run(
            """
            INSERT INTO groups (id, name, description, created_by, created_at, updated_at)
            VALUES (\(group.id), \(group.name), \(group.description), \(group.createdBy), \(group.createdAt),
                \(group.updatedAt))
            """)
        try add(group.createdBy, .admin, to: group.id, at: group.createdAt.milliseconds, in: db)
    }

    /// Adds a member, and returns false when the user is one already.
    @discardableResult
    static func add(
        _ user: DeuceDiary.User.ID, _ role: DeuceDiary.Role, to group: DeuceDiary.Group.ID, at now: Int64,
        in db: Session
    ) throws -> Bool {
        try db.run(
            """
            INSERT INTO members (group_id, user_id, role, joined_at) VALUES (\(group), \(user), \(role), \(now))
            ON CONFLICT (group_id, user_id) DO NOTHING
            """) == 1
    }

    /// Deletes a group without members, with its entries and invites. Logs without entries in other groups are no
    /// longer counted.
    static func delete(_ group: DeuceDiary.Group.ID, at now: Int64, in db: Session) throws {
        let authors: [DeuceDiary.User.ID] = try db.all(
            "SELECT DISTINCT user_id FROM entries WHERE group_id = \(group) ORDER BY user_id"
        ) { try $0.get(0) }
        // The authors are locked, because the other entry of a log may be deleted at the same time.
        for author in authors { try Users.lock(author, in: db) }
        for ended in try Entries.logs(onlyIn: group, in: db) {
            try Days.decrement(ended.logs, on: ended.day, of: ended.user, in: db)
            try Users.decrementLogs(by: ended.logs, of: ended.user, at: now, in: db)
        }
        try db.run("DELETE FROM reactions WHERE entry_id IN (SELECT id FROM entries WHERE group_id = \(group))")
        try Reports.Queue.end(.entry, "SELECT id FROM entries WHERE group_id = \(group)", at: now, in: db)
        try db.run("DELETE FROM entries WHERE group_id = \(group)")
        try db.run("DELETE FROM invites WHERE group_id = \(group)")
        try db.run("DELETE FROM groups WHERE id = \(group)")
    }

    /// The columns of a group `g`, which ``DeuceDiaryAPI/DeuceDiary/Group/init(row:)`` reads.
    fileprivate enum Column: String, Columns {
        case id = "g.id"
        case name = "g.name"
        case description = "g.description"
        case createdBy = "g.created_by"
        case createdAt = "g.created_at"
        case updatedAt = "g.updated_at"

        static let list = ColumnList(Self.self)
    }

    /// What lists of groups have behind them.
    private enum SummaryColumn: String, Columns {
        case members = "(SELECT COUNT(*) FROM members o WHERE o.group_id = g.id)"
        case entries = "g.entry_count"
        case lastActivity = "g.last_activity"

        static let list = ColumnList(Self.self)
    }

    static func one(_ id: DeuceDiary.Group.ID, in db: Session) throws -> DeuceDiary.Group? {
        try db.one(
            "SELECT \(Column.list) FROM groups g WHERE g.id = \(id)",
            DeuceDiary.Group.init(row:))
    }

    /// Returns the terms by which groups are ordered, descending: first those with entries by their newest entry, then
    /// the others by their creation.
    private static func rank(_ group: SQL) -> SQL {
        """
        CASE WHEN \(group).last_activity IS NULL THEN 0 ELSE 1 END,
        COALESCE(\(group).last_activity, \(group).created_at), \(group).id
        """
    }

    /// The ORDER BY terms for groups `g` in a list.
    static let order: SQL = """
        CASE WHEN g.last_activity IS NULL THEN 0 ELSE 1 END DESC, COALESCE(g.last_activity, g.created_at) DESC,
        g.id DESC
        """

    static func page(
        of user: DeuceDiary.User.ID, before: DeuceDiary.Group.ID?, limit: Int, in db: Session
    ) throws -> [DeuceDiary.GroupSummary] {
        try db.all(pageQuery(of: user, before: before, limit: limit)) { row in
            .init(
                try DeuceDiary.Group(row: row),
                memberCount: try row.get(SummaryColumn.members, behind: Column.list.count),
                entryCount: try row.get(SummaryColumn.entries, behind: Column.list.count),
                lastActivity: try row.get(SummaryColumn.lastActivity, behind: Column.list.count))
        }
    }

    static func pageQuery(of user: DeuceDiary.User.ID, before: DeuceDiary.Group.ID?, limit: Int) -> SQL {
        let rest: SQL =
            before.map { "AND (\(rank("g"))) < (SELECT \(rank("b")) FROM groups b WHERE b.id = \($0))" } ?? ""
        return """
            SELECT \(Column.list), \(SummaryColumn.list)
            FROM members me JOIN groups g ON g.id = me.group_id
            WHERE me.user_id = \(user) \(rest)
            ORDER BY \(order) LIMIT \(limit)
            """
    }

    /// Returns the query for a group's members with their profiles and top days. It is one statement for any number of
    /// members.
    static func members(
        of group: DeuceDiary.Group.ID, for viewer: DeuceDiary.User.ID
    ) -> Query<[DeuceDiary.GroupMember]> {
        .all(membersQuery(of: group, for: viewer)) { row in
            let day: Day? = try row.get(4)
            let logs: Int? = try row.get(5)
            return DeuceDiary.GroupMember(
                id: try row.get(0), groupId: group, userId: try row.get(1), role: try row.get(2),
                joinedAt: try row.get(3), user: try .init(row: row, at: 6),
                personalRecord: .init(day: day, logs: logs))
        }
    }

    static func membersQuery(of group: DeuceDiary.Group.ID, for viewer: DeuceDiary.User.ID) -> SQL {
        """
        SELECT m.id, m.user_id, m.role, m.joined_at,
            (SELECT d.day FROM days d WHERE d.user_id = m.user_id ORDER BY d.logs DESC, d.day DESC LIMIT 1),
            (SELECT d.logs FROM days d WHERE d.user_id = m.user_id ORDER BY d.logs DESC, d.day DESC LIMIT 1),
            \(Users.columns(for: viewer))
        FROM members m JOIN users u ON u.id = m.user_id
        WHERE m.group_id = \(group) ORDER BY m.joined_at DESC, m.id DESC
        """
    }
}

extension DeuceDiary.Group {
    init(row: borrowing Row) throws {
        self.init(
            id: try row.get(Groups.Column.id), name: try row.get(Groups.Column.name),
            description: try row.get(Groups.Column.description), createdBy: try row.get(Groups.Column.createdBy),
            createdAt: try row.get(Groups.Column.createdAt), updatedAt: try row.get(Groups.Column.updatedAt))
    }
}
