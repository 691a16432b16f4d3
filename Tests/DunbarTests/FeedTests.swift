import ContractCheck
import Database
import DunbarAPI
import Foundation
import Testbed
import Testing

@testable import DunbarService

/// The feed of a user who follows many others is complete, in order and fast.
@Suite(.timeLimit(.minutes(30))) struct DunbarFeedTests {
    /// Adds 150 users whom user 1 follows and 50 others, each with the same number of posts, interleaved in time.
    static func fill(_ database: Database, posts: Int) async throws {
        let numbers: @Sendable (Int) -> SQL = { count in
            """
            WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < \(count))
            """
        }
        try await database.write { db in
            try db.run(
                """
                INSERT INTO users (id, username, username_key, email, email_key, password, display_name, display_key,
                    created_at)
                \(numbers(201)) SELECT n, 'u' || n, 'u' || n, 'u' || n || '@x', 'u' || n || '@x', '', 'U', 'u', 0
                FROM numbers
                """)
            try db.run(
                """
                INSERT INTO follows (follower_id, target_id, is_accepted, created_at)
                \(numbers(150)) SELECT 1, n + 1, 1, 0 FROM numbers
                """)
            try db.run(
                """
                INSERT INTO posts (id, user_id, content, media, created_at)
                \(numbers(200 * posts)) SELECT n, 2 + (n * 7) % 200, 'post ' || n, '', 1000 * n FROM numbers
                """)
        }
    }

    @Test(arguments: Stack.Engine.available)
    func theNewestOfAllListsInOrder(_ engine: Stack.Engine) async throws {
        try await withDunbar(on: Stack(engine, .inProcess)) { host in
            try await Self.fill(host.database, posts: 20)
            let urls = PublicURLs(base: "", secret: .ofTests(1), time: host.clock.source)
            for (limit, before) in [(500, nil), (1, nil), (50, 2001), (100, 100), (500, 1)] as [(Int, Int64?)] {
                let (found, wanted) = try await host.database.read { db in
                    let place = before.map { Dunbar.Post.ID($0) }
                    let found = try Posts.feed(of: 1, before: place, limit: limit, urls, in: db).map(\.id.rawValue)
                    // A simple query returns the expected rows.
                    let wanted: [Int64] = try db.all(
                        """
                        SELECT id FROM posts WHERE id < \(before ?? 1_000_000) AND user_id IN (
                            SELECT target_id FROM follows WHERE follower_id = 1)
                        ORDER BY created_at DESC, id DESC LIMIT \(limit)
                        """
                    ) { try $0.get(0) }
                    return (found, wanted)
                }
                #expect(found == wanted)
                #expect(found.count == (before == 1 ? 0 : min(limit, wanted.count)))
            }
        }
    }

    /// Who is blocked, blocks the viewer, or has not accepted the follow yet is not in the feed; an admin sees blocked ones.
    @Test(arguments: Stack.Engine.available)
    func thePostsOfFollowedUsersUnlessThereIsABlock(_ engine: Stack.Engine) async throws {
        try await withDunbar(on: Stack(engine, .inProcess)) { host in
            try await Self.fill(host.database, posts: 2)
            let urls = PublicURLs(base: "", secret: .ofTests(1), time: host.clock.source)
            func authors() async throws -> Set<Int64> {
                try await host.database.read { db in
                    Set(try Posts.feed(of: 1, before: nil, limit: 500, urls, in: db).map(\.userId.rawValue))
                }
            }
            let followed = Set((2...151).map(Int64.init))
            #expect(try await authors() == followed)
            try await host.database.write { db in
                try db.run(
                    "INSERT INTO posts (id, user_id, content, media, created_at) VALUES (1000, 1, 'mine', '', 5)")
                try db.run(
                    "INSERT INTO blocks (blocker_id, blocked_id, created_at) VALUES (1, 3, 0), (4, 1, 0), (5, 6, 0)")
                try db.run("UPDATE follows SET is_accepted = 0 WHERE target_id = 7")
            }
            #expect(try await authors() == followed.subtracting([3, 4, 7]).union([1]))
            try await host.database.write { db in try db.run("UPDATE users SET is_admin = 1 WHERE id = 1") }
            #expect(try await authors() == followed.subtracting([7]).union([1]))
        }
    }

    /// Every access to the posts uses an index; none scans or sorts them.
    @Test func noPostIsReadNeedlesslyOnSQLite() async throws {
        try await withDunbar(on: Stack(.sqlite, .inProcess)) { host in
            try await Self.fill(host.database, posts: 20)
            let (whole, pages) = try await host.database.read { db in
                let pages = [
                    Posts.table.newest(7, of: 2, before: nil), Posts.table.newest(7, of: 2, before: (1000, 100)),
                ]
                return (
                    try db.plan(of: Posts.feedQuery(of: 1, before: 100, limit: 50, in: db)), try pages.map(db.plan)
                )
            }
            for plan in pages {
                let isIndexed = plan.first?.hasPrefix("SEARCH t USING COVERING INDEX posts_in_order (user_id=?") == true
                #expect(plan.count == 1 && isIndexed, "\(plan)")
            }
            for table in ["p", "u"] {
                #expect(whole.contains { $0.hasPrefix("SEARCH \(table) USING INTEGER PRIMARY KEY") }, "\(whole)")
            }
        }
    }

    @Test(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"))
    func noPostIsReadNeedlesslyOnPostgreSQL() async throws {
        try await withDunbar(on: Stack(.postgreSQL, .inProcess)) { host in
            try await Self.fill(host.database, posts: 200)
            try await host.database.write { db in try db.run("ANALYZE") }
            let plan = try await host.database.read { db in
                try db.plan(of: Posts.feedQuery(of: 1, before: nil, limit: 50, in: db))
            }.joined(separator: "\n")
            #expect(!plan.contains("Seq Scan on posts"), "\(plan)")
            #expect(plan.contains("posts_in_order"), "\(plan)")
        }
    }
}
