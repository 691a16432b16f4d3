import Backend
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

    /// Locations that look alike stay, and no further one can be added.
    @Test(arguments: Stack.Engine.available)
    func locationsThatLookAlikeStay(_ engine: Stack.Engine) async throws {
        let schema = DeuceDiaryService.schema
        let step = try #require(schema.migrations.firstIndex { $0.name == "locations that look alike" })
        try await withTestDatabase(on: engine) { place in
            let older = try place.open(Schema(schema.name, Array(schema.migrations.prefix(step))))
            let names = ["Ｈome", "ho\u{200B}me", "Bar", "\u{200B}"] + (0..<1100).map { "place \($0)" }
            try await older.write { db in
                for name in names {
                    try db.run(
                        """
                        INSERT INTO locations (name, name_key, is_default, created_at)
                        VALUES (\(name), \(name.lowercased()), 0, 1)
                        """)
                }
            }
            try await older.close()
            let database = try place.open(schema)
            let kept: [String?] = try await database.read { db in
                try db.all("SELECT folded_name FROM locations WHERE id > 3 ORDER BY id LIMIT 9") { try $0.get(0) }
            }
            let marked = [
                "home", "hotel", "office", "public restroom", "restaurant", "home\u{1}9", "home\u{1}10", "bar", "",
            ]
            #expect(kept == marked)
            let isFree = try await database.read { db in
                try ["HOME", "bär", "BAR", "Place 1099", "place 1100"].map {
                    try FoldedNames.isFree($0, in: "locations", db)
                }
            }
            #expect(isFree == [false, true, false, false, true])
            let count = try await database.read { try $0.value("SELECT COUNT(*) FROM locations", as: Int.self) }
            #expect(count == 8 + names.count)
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
