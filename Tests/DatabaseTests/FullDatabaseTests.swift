import Database
import Testbed
import Testing

/// A database for which there is no space says so until there is.
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
            // SQLite says the same of a file that may not grow as of a disk that is full.
            try await set("PRAGMA max_page_count = 1", database)
            #expect(try await isFull { try await insert(100_000) })
            // What asks now is told so, and takes no space.
            #expect(try await isFull { try await database.check() })
            #expect(try await isFull { try await database.check() })
            let count = try await database.read { try $0.value("SELECT COUNT(*) FROM schema_migrations", as: Int.self) }
            #expect(count == 1)
            // Space comes back, and nobody has written since.
            try await set("PRAGMA max_page_count = 100000", database)
            try await database.check()
            try await insert(100_000)
            try await database.close()
        }
    }

    /// In a write that is no success.
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
