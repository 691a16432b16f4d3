import Database
import DeuceDiaryAPI
import Testbed
import Testing

@testable import DeuceDiaryService

/// Frequent lists stay fast as they grow: each is read along an index in its order, and never sorted.
@Suite(.timeLimit(.minutes(30))) struct QueryPlanTests {
    private static let user = DeuceDiary.User.ID("user_1")
    private static let group = DeuceDiary.Group.ID("6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f6071")
    private static let entry = DeuceDiary.DeuceEntry.ID("6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f6071")
    private static let exported = DeuceDiary.DeuceEntry(
        id: entry, userId: user, groupId: group, location: "x", thoughts: "", loggedAt: .init(milliseconds: 7),
        createdAt: .init(milliseconds: 7))
    private static let reaction = DeuceDiary.Reaction(
        id: 7, entryId: entry, userId: user, emoji: "x", createdAt: .init(milliseconds: 7))

    /// A list, and the index that its query must use.
    struct Hot: Sendable, CustomTestStringConvertible {
        let name: String
        let query: @Sendable (Session) -> SQL
        let index: String
        /// Whether the query may sort the rows it found, because it returns all of them or because their order changes
        /// with every log.
        var isSorted = false
        var testDescription: String { name }

        init(name: String, index: String, isSorted: Bool = false, query: @escaping @Sendable (Session) -> SQL) {
            self.name = name
            self.query = query
            self.index = index
            self.isSorted = isSorted
        }

        init(name: String, query: SQL, index: String, isSorted: Bool = false) {
            self.init(name: name, index: index, isSorted: isSorted) { _ in query }
        }
    }

    static let hot: [Hot] = [
        Hot(
            name: "entries of a group", query: Entries.pageQuery(of: group, before: nil, limit: 1000),
            index: "entries_in_order"),
        Hot(
            name: "entries behind another", query: Entries.pageQuery(of: group, before: entry, limit: 50),
            index: "entries_in_order"),
        Hot(
            name: "members", query: Groups.membersQuery(of: group, for: user), index: "members_in_order", isSorted: true
        ),
        Hot(
            name: "top days of members", query: Groups.membersQuery(of: group, for: user), index: "top_days",
            isSorted: true),
        Hot(name: "a top day", query: Days.topQuery(of: user), index: "top_days"),
        Hot(
            name: "a caller's groups", query: Groups.pageQuery(of: user, before: nil, limit: 500),
            index: "groups_of_member", isSorted: true),
        Hot(
            name: "reactions of an entry", query: Reactions.pageQuery(of: entry, after: nil, limit: 1000, for: user),
            index: "reactions_in_order"),
        Hot(
            name: "reactions behind another", query: Reactions.pageQuery(of: entry, after: 7, limit: 50, for: user),
            index: "reactions_in_order"),
        Hot(name: "locations", query: Locations.pageQuery(from: 0, limit: 1000), index: "locations_in_order"),
        Hot(
            name: "entries of a log", query: "SELECT 1 FROM entries WHERE log_id = \("log")", index: "entries_of_log"),
        Hot(
            name: "invites of a group", query: Invites.pageQuery(of: group, by: nil, before: nil, at: 0, limit: 500),
            index: "invites_in_order"),
        Hot(
            name: "entries of an export", query: Entries.exportQuery(of: user, behind: nil, limit: 100),
            index: "entries_of_user_in_order"),
        Hot(
            name: "more entries of an export", query: Entries.exportQuery(of: user, behind: exported, limit: 100),
            index: "entries_of_user_in_order"),
        Hot(
            name: "reactions of an export",
            query: Reactions.exportQuery(of: user, behind: reaction, to: reaction, limit: 100),
            index: "reactions_of_user"),
        Hot(name: "a feed's groups", query: Feed.groupsQuery(of: user, in: nil), index: "groups_of_member"),
    ]

    @Test(arguments: Stack.Engine.available, hot)
    func eachQueryUsesItsIndex(_ engine: Stack.Engine, _ hot: Hot) async throws {
        try await withDeuceDiary(on: Stack(engine, .inProcess)) { host in
            try await host.database.write { try Self.fill($0, for: engine) }
            let plan = try await host.database.read { try $0.plan(of: hot.query($0)) }
            let text = plan.joined(separator: "\n")
            #expect(text.contains(hot.index), "\(text)")
            if !hot.isSorted {
                #expect(!text.contains("TEMP B-TREE") && !text.contains("Sort"), "\(text)")
            }
            // A scan would read every row of a table that grows.
            for table in ["e", "m", "d", "r", "entries", "members", "days", "reactions", "locations"] {
                let scans = plan.filter { $0.hasPrefix("SCAN \(table)") && !$0.contains("USING INDEX") }
                #expect(scans == [], "\(text)")
                #expect(!text.contains("Seq Scan on \(table) "), "\(text)")
            }
        }
    }

    /// SQLite reads the head of each group's list in a statement of its own.
    @Test func aFeedUsesItsIndexOnSQLite() async throws {
        try await withDeuceDiary(on: Stack(.sqlite, .inProcess)) { host in
            try await host.database.write { try Self.fill($0, for: .sqlite) }
            for before in [nil, (7, Self.entry)] as [(Int64, DeuceDiary.DeuceEntry.ID)?] {
                let query = Feed.table.newest(14, of: Self.group, before: before)
                let plan = try await host.database.read { try $0.plan(of: query) }
                let isIndexed =
                    plan.first?.hasPrefix("SEARCH t USING COVERING INDEX entries_in_order (group_id=?") == true
                #expect(plan.count == 1 && isIndexed, "\(plan)")
            }
        }
    }

    /// PostgreSQL reads the head of each group's list, and sorts these few rows.
    @Test(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"))
    func aFeedUsesItsIndexOnPostgreSQL() async throws {
        try await withDeuceDiary(on: Stack(.postgreSQL, .inProcess)) { host in
            try await host.database.write { try Self.fill($0, for: .postgreSQL) }
            for (group, before) in [(nil, nil), (nil, Self.entry), (Self.group, Self.entry)]
                as [(DeuceDiary.Group.ID?, DeuceDiary.DeuceEntry.ID?)]
            {
                let plan = try await host.database.read { db in
                    try db.plan(of: Feed.pageQuery(of: Self.user, in: group, before: before, limit: 50, in: db))
                }.joined(separator: "\n")
                #expect(plan.contains("entries_in_order") && !plan.contains("Seq Scan on entries "), "\(plan)")
            }
        }
    }

    /// Fills the tables, because a planner has no reason to use an index for empty ones.
    private static func fill(_ db: Session, for engine: Stack.Engine) throws {
        let count = 2000
        func numbers(_ size: Int) -> SQL {
            "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < \(size))"
        }
        try db.run(
            """
            INSERT INTO users (id, created_at, updated_at)
            \(numbers(count)) SELECT 'user_' || CAST(i AS TEXT), 0, 0 FROM n
            """)
        try db.run(
            """
            INSERT INTO groups (id, name, created_by, created_at, updated_at)
            \(numbers(count)) SELECT 'group_' || CAST(i AS TEXT), 'x', 'user_1', 0, 0 FROM n
            """)
        try db.run(
            """
            INSERT INTO groups (id, name, created_by, created_at, updated_at)
            VALUES (\(group), 'x', 'user_1', 0, 0)
            """)
        try db.run(
            """
            INSERT INTO members (group_id, user_id, role, joined_at)
            \(numbers(count)) SELECT 'group_' || CAST(i AS TEXT), 'user_' || CAST(i % 200 AS TEXT), 'member', i FROM n
            """)
        try db.run(
            """
            INSERT INTO members (group_id, user_id, role, joined_at)
            \(numbers(10)) SELECT \(group), 'user_' || CAST(i AS TEXT), 'member', i FROM n
            """)
        try db.run(
            """
            INSERT INTO entries (id, log_id, user_id, group_id, location, thoughts, logged_at, created_at)
            \(numbers(20 * count)) SELECT 'entry_' || CAST(i AS TEXT), 'log_' || CAST(i AS TEXT), 'user_1',
                CASE WHEN i % 4 = 0 THEN \(group) ELSE 'group_' || CAST(i % 2000 AS TEXT) END, 'x', '', i, i FROM n
            """)
        try db.run(
            """
            INSERT INTO invites (id, group_id, created_by, expires_at, created_at)
            \(numbers(20 * count)) SELECT 'invite_' || CAST(i AS TEXT),
                CASE WHEN i % 4 = 0 THEN \(group) ELSE 'group_' || CAST(i % 2000 AS TEXT) END, 'user_1', i, i FROM n
            """)
        try db.run(
            """
            INSERT INTO days (user_id, day, logs)
            \(numbers(20 * count)) SELECT 'user_' || CAST(i % 20 AS TEXT), i / 20, i % 7 + 1 FROM n
            """)
        try db.run(
            """
            INSERT INTO entries (id, log_id, user_id, group_id, location, thoughts, logged_at, created_at)
            VALUES (\(entry), 'log', 'user_1', \(group), 'x', '', 0, 0)
            """)
        try db.run(
            """
            INSERT INTO reactions (entry_id, user_id, emoji, created_at)
            \(numbers(20 * count)) SELECT
                CASE WHEN i % 2 = 0 THEN \(entry) ELSE 'entry_' || CAST(i % 50 AS TEXT) END, 'user_1', CAST(i AS TEXT), i
            FROM n
            """)
        try db.run(
            """
            INSERT INTO locations (name, name_key, is_default, created_at)
            \(numbers(5 * count)) SELECT 'place ' || CAST(i AS TEXT), 'place ' || CAST(i AS TEXT), 0, 0 FROM n
            """)
        try db.run("ANALYZE")
    }
}
