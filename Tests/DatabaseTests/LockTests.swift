import Database
import NIOConcurrencyHelpers
import Testbed
import Testing

/// Data that is read under a row lock stays valid, and a lock reports whether the row exists.
@Suite(.timeLimit(.minutes(30))) struct LockTests {
    private static let schema = Schema(
        "locks",
        [
            .init(
                "locks",
                [
                    "CREATE TABLE accounts (id {ID}, name TEXT NOT NULL)",
                    "CREATE TABLE entries (id {ID}, account_id BIGINT NOT NULL, place BIGINT NOT NULL)",
                ])
        ])

    private func withAccounts(_ engine: Stack.Engine, _ body: (Database) async throws -> Void) async throws {
        try await withTestDatabase(on: engine) { place in
            let database = try place.open(Self.schema)
            try await database.write { db in
                for name in ["one", "two"] { try db.run("INSERT INTO accounts (name) VALUES (\(name))") }
            }
            try await body(database)
            try await database.close()
        }
    }

    @Test(arguments: Stack.Engine.available)
    func rowsReadUnderALockStayUnchanged(_ engine: Stack.Engine) async throws {
        try await withAccounts(engine) { database in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<100 {
                    group.addTask {
                        try await database.write { db in
                            try db.lock("accounts", where: "id = 1")
                            let count: Int? = try db.value("SELECT COUNT(*) FROM entries WHERE account_id = 1")
                            try db.run("INSERT INTO entries (account_id, place) VALUES (1, \(count))")
                        }
                    }
                }
                try await group.waitForAll()
            }
            let places: [Int] = try await database.read { db in
                try db.all("SELECT place FROM entries ORDER BY place") { try $0.get(0) }
            }
            #expect(places == Array(0..<100))
        }
    }

    @Test(arguments: Stack.Engine.available)
    func aLockReturnsTheNumberOfRows(_ engine: Stack.Engine) async throws {
        try await withAccounts(engine) { database in
            let (one, none, both) = try await database.write { db in
                (
                    try db.lock("accounts", where: "id = \(2)"), try db.lock("accounts", where: "id = \(3)"),
                    try db.lock("accounts", where: "id IN (\(list: [1, 2, 3])) ORDER BY id")
                )
            }
            #expect(one == 1)
            #expect(none == 0)
            #expect(both == 2)
            let names = try await database.write { db in
                try [2, 3].map { id in
                    try db.lock("name", from: "accounts", where: "id = \(id)") { try $0.get(0, as: String.self) }
                }
            }
            #expect(names == ["two", nil])
        }
    }

    /// The second transaction waits for the lock while the first changes or deletes the row.
    @Test(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"), arguments: [false, true])
    func columnsAreReadAfterTheLockIsGranted(_ deletes: Bool) async throws {
        try await withAccounts(.postgreSQL) { database in
            let (locked, lock) = AsyncStream<Void>.makeStream()
            async let first: Void = database.write { db in
                try db.lock("accounts", where: "id = 1")
                lock.finish()
                try db.run(
                    deletes ? "DELETE FROM accounts WHERE id = 1" : "UPDATE accounts SET name = 'new' WHERE id = 1")
                // This waits until the other transaction waits for the lock.
                while try !db.exists(
                    "SELECT 1 FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))")
                {}
            }
            for await _ in locked {}
            let name = try await database.write { db in
                try db.lock("name", from: "accounts", where: "id = 1") { try $0.get(0, as: String.self) }
            }
            try await first
            #expect(name == (deletes ? nil : "new"))
        }
    }

    @Test(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"))
    func aLockMakesNoNewVersionOfTheRow() async throws {
        try await withAccounts(.postgreSQL) { database in
            let version = "SELECT ctid::text FROM accounts WHERE id = 1" as SQL
            let before: String? = try await database.read { try $0.value(version) }
            try await database.write { db in
                try db.lock("accounts", where: "id = 1")
                try db.run("INSERT INTO entries (account_id, place) VALUES (1, 0)")
            }
            let after: String? = try await database.read { try $0.value(version) }
            #expect(before == after)
        }
    }

    /// A statement after a lock must see what was committed before the lock was granted.
    @Test(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"))
    func writesReadWhatIsCommittedWhateverTheServersSettingIs() async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            let url = try #require(place.url)
            let name = try #require(url.split(separator: "/").last?.prefix { $0 != "?" })
            try Database.administer(
                url: url, "ALTER DATABASE \"\(name)\" SET default_transaction_isolation = 'repeatable read'")
            let database = try place.open(Self.schema)
            let level = try await database.write { try $0.value("SHOW transaction_isolation", as: String.self) }
            #expect(level == "read committed")
            try await database.close()
        }
    }
}
