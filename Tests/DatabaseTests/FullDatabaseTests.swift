import Database
import Testbed
import Testing

/// A database without space refuses writes until there is space again.
@Suite(.timeLimit(.minutes(30))) struct FullDatabaseTests {
    private static let schema = Schema("notes", [.init("notes", ["CREATE TABLE notes (id {ID}, text TEXT NOT NULL)"])])

    @Test func aWriteThatFailedForSpaceIsRememberedUntilOneSucceeds() async throws {
        try await withTemporaryFolder { folder in
            let database = try Database.sqlite(path: folder + "/notes.sqlite", schema: Self.schema)
            func insert(_ length: Int) async throws {
                let text = String(repeating: "x", count: length)
                _ = try await database.write { db in try db.run("INSERT INTO notes (text) VALUES (\(text))") }
            }
            func isFull(_ body: () async throws -> Void) async throws -> Bool {
                do {
                    try await body()
                    return false
                } catch DatabaseFailure.full {
                    return true
                }
            }
            try await insert(10)
            try await database.check()
            // A file that may not grow gives the same SQLite error as a full disk.
            try await set("PRAGMA max_page_count = 1", database)
            #expect(try await isFull { try await insert(100_000) })
            // Later requests get the same error, and take no space.
            #expect(try await isFull { try await database.check() })
            #expect(try await isFull { try await database.check() })
            let count = try await database.read { try $0.value("SELECT COUNT(*) FROM schema_migrations", as: Int.self) }
            #expect(count == 1)
            // There is space again, although nothing has been written since.
            try await set("PRAGMA max_page_count = 100000", database)
            try await database.check()
            try await insert(100_000)
            try await database.close()
        }
    }

    /// Runs a pragma in a write that fails.
    private func set(_ pragma: SQL, _ database: Database) async throws {
        await #expect(throws: Stop.self) {
            try await database.write { db in
                _ = try db.value(pragma, as: Int64.self)
                throw Stop()
            }
        }
    }

    private struct Stop: Error {}
}
