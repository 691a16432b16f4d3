import Database
import DeuceDiaryService
import Testbed
import Testing

/// Deuce Diary's schema brings older databases up to date.
@Suite(.timeLimit(.minutes(30))) struct DeuceDiarySchemaTests {
    /// A database from before the additions keeps its data.
    @Test(arguments: Stack.Engine.available)
    func anOlderDatabaseIsTakenOver(_ engine: Stack.Engine) async throws {
        try await withTestDatabase(on: engine) { place in
            let schema = DeuceDiaryService.schema
            let older = try place.open(Schema(schema.name, Array(schema.migrations.prefix(3))))
            try await older.write { db in
                try db.run("INSERT INTO users (id, created_at, updated_at) VALUES ('u', 1, 1)")
                try db.run(
                    """
                    INSERT INTO groups (id, name, created_by, created_at, updated_at, entry_count, last_activity)
                    VALUES ('g', 'N', 'u', 1, 1, 1, 7), ('h', 'N', 'u', 1, 1, 0, NULL)
                    """)
            }
            try await older.close()
            let database = try place.open(schema)
            let times = try await database.read { db in
                try db.all("SELECT last_entry_at FROM groups ORDER BY id") { try $0.get(0, as: Int64?.self) }
            }
            #expect(times == [7, nil])
            try await database.close()
        }
    }

    @Test(arguments: Stack.Engine.available)
    func noLocationIsSeededTwice(_ engine: Stack.Engine) async throws {
        try await withTestDatabase(on: engine) { place in
            for _ in 0..<3 {
                let database = try place.open(DeuceDiaryService.schema)
                let seeds = try await database.read { db in
                    try db.value("SELECT COUNT(*) FROM locations WHERE is_default = 1", as: Int.self)
                }
                #expect(seeds == 8)
                try await database.close()
            }
        }
    }
}
