import Foundation
import GRDB

extension Benchmark {
    static let detail = Benchmark(
        name: "detail", abstract: "a group with 10 members and 10, 200 and 10,000 entries (GET), 64 connections"
    ) { setting in
        var rows: [Row] = []
        for count in [10, 200, 10_000] {
            rows += try await DeuceDiaryServer.run(
                setting.concord, seed: { try fillGroup($0, user: $1, group: $2, entries: count) }
            ) { server in
                // One request asks for the whole group, as the contract's apps do, the other for a page.
                try await detail(of: server, "", "detail, \(count) entries", setting)
                    + (count > 200 ? detail(of: server, "?limit=50", "detail, 50 of \(count)", setting) : [])
            }
        }
        return rows
    }

    private static func detail(
        of server: DeuceDiaryServer, _ query: String, _ name: String, _ setting: Setting
    ) async throws -> [Row] {
        let get = Exchange.request(
            "GET", "/api/groups/\(server.group)\(query)", port: server.port, token: server.token, keepAlive: true)
        return try await Comparison(server: server.process, setting: setting).underLoad(name, get)
    }

    /// Adds ten members, each with a number of entries on as many days.
    static func fillGroup(_ path: String, user: String, group: String, entries: Int) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.write { db in
            try db.execute(
                sql: """
                    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
                    INSERT INTO users (id, first_name, last_name, username, username_key, picture, created_at, updated_at)
                    SELECT 'user_' || i, 'John', 'Doe', 'john' || i, 'john' || i, 'user_' || i || '-1700000000000.jpg',
                        1700000000000, 1700000000000 FROM n
                    """)
            try db.execute(
                sql: """
                    INSERT INTO members (group_id, user_id, role, joined_at)
                    SELECT ?, id, 'member', 1700000000000 FROM users WHERE id <> ?
                    """, arguments: [group, user])
            try db.execute(
                sql: """
                    WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?)
                    INSERT INTO entries (id, log_id, user_id, group_id, location, thoughts, logged_at, created_at)
                    SELECT printf('a1b2c3d4-e5f6-4a7b-8c9d-%012d', i), printf('b1b2c3d4-e5f6-4a7b-8c9d-%012d', i),
                        CASE WHEN i % 10 = 0 THEN ? ELSE 'user_' || (i % 10) END, ?, 'Home',
                        'A throne worthy of a king (' || i || ')', 1700000000000 + i * 3600000,
                        1700000000000 + i * 3600000
                    FROM n
                    """, arguments: [entries, user, group])
            try db.execute(
                sql: """
                    INSERT INTO days (user_id, day, logs)
                    SELECT user_id, logged_at / 86400000, COUNT(*) FROM entries GROUP BY 1, 2
                    """)
            try db.execute(
                sql: """
                    UPDATE groups SET entry_count = (SELECT COUNT(*) FROM entries),
                        last_activity = (SELECT MAX(created_at) FROM entries) WHERE id = ?
                    """, arguments: [group])
        }
        try queue.close()
    }
}
