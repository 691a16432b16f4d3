import Database
import Testbed
import Testing

/// Migrations run forward, each completely or not at all.
@Suite(.timeLimit(.minutes(30))) struct MigrationTests {
    private let second = Schema.Migration("colours", ["ALTER TABLE notes ADD COLUMN colour TEXT"])

    /// The digests were made by another program. The layout does not count, whatever it is made of.
    @Test(arguments: [
        (
            Schema.Migration("first", ["\n\tCREATE TABLE a\r\n    (id INTEGER)\n", "INSERT INTO a VALUES (1)"]),
            "79bcf9d6e9fde55285f83358eeb62170db94610d9ba1b5f8e2bd61aa54dcf27a"
        ),
        (
            Schema.Migration("second", ["INSERT INTO a\u{A0}VALUES\r\n('é\u{2003}b') "]),
            "2a5ea83b6e2a0a87bc54e18cfc9406fb687e518f8bb425ad31ca6011c718619d"
        ),
    ])
    func aDigestHoldsForAnyLayout(_ migration: Schema.Migration, _ digest: String) {
        #expect(migration.digest == digest)
    }

    @Test(arguments: Stack.Engine.available)
    func bringAnOldDatabaseUpToDateAndKeepItsRows(_ engine: Stack.Engine) async throws {
        try await withDatabase(engine) { database, place in
            try await database.write { try $0.run("INSERT INTO notes (text) VALUES (\("old"))") }
            try await database.close()
            let newer = try place.open(Schema("notes", notesSchema.migrations + [second]))
            let colour = try await newer.read {
                try $0.value("SELECT COALESCE(colour, text) FROM notes", as: String.self)
            }
            #expect(colour == "old")
            try await newer.close()
        }
    }

    /// A word in braces is the engine's; any other brace stays.
    @Test(arguments: Stack.Engine.available)
    func wordsInBracesAreTheEngines(_ engine: Stack.Engine) async throws {
        let table = #"CREATE TABLE odd (id {ID}, text {KEY} DEFAULT '{"a": {}, {b} {', raw {BYTES})"#
        try await withTestDatabase(on: engine) { place in
            let database = try place.open(
                Schema("odd", [.init("odd", [table, "INSERT INTO odd (raw) VALUES (NULL)"])]))
            let row = try await database.read { db in
                try db.one("SELECT id, text FROM odd") { (try $0.get(0, as: Int.self), try $0.get(1, as: String.self)) }
            }
            #expect(row?.0 == 1 && row?.1 == #"{"a": {}, {b} {"#)
            try await database.close()
        }
    }

    @Test(arguments: Stack.Engine.available)
    func refuseADatabaseOfANewerProgramWithAReason(_ engine: Stack.Engine) async throws {
        try await withTestDatabase(on: engine) { place in
            try await place.open(Schema("notes", notesSchema.migrations + [second])).close()
            #expect {
                _ = try place.open(notesSchema)
            } throws: { error in
                "\(error)".hasPrefix("The notes database is at schema 2 (colours); this program knows up to 1.")
            }
        }
    }

    @Test(arguments: Stack.Engine.available)
    func refuseTheDatabaseOfAnotherProgram(_ engine: Stack.Engine) async throws {
        try await withTestDatabase(on: engine) { place in
            try await place.open(Schema("notes", [.init("others", [])])).close()
            #expect(throws: SchemaMismatch.self) { _ = try place.open(notesSchema) }
        }
    }

    @Test(arguments: Stack.Engine.available)
    func aFailedMigrationLeavesNothing(_ engine: Stack.Engine) async throws {
        try await withTestDatabase(on: engine) { place in
            let broken = Schema.Migration("half", ["CREATE TABLE half (id {ID})", "CREATE TABLE"])
            #expect(throws: (any Error).self) {
                _ = try place.open(Schema("notes", notesSchema.migrations + [broken]))
            }
            let database = try place.open(notesSchema)
            let applied = try await database.read {
                try $0.all("SELECT name FROM schema_migrations") { try $0.get(0, as: String.self) }
            }
            #expect(applied == ["notes"])
            await #expect(throws: DatabaseFailure.self) {
                _ = try await database.read { try $0.value("SELECT id FROM half", as: Int64.self) }
            }
            try await database.close()
        }
    }
}
