import Database
import DeuceDiaryService
import Testbed
import Testing

/// How Deuce Diary's tables are laid out.
@Suite struct DeuceDiarySchemaTests {
    /// An index that goes by a locale is wrong after the next upgrade of the operating system's locales.
    @Test(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"))
    func noIndexGoesByTheServersLocale() async throws {
        try await withDeuceDiary(on: Stack(.postgreSQL, .inProcess)) { host in
            let (all, byLocale) = try await host.database.read { db in
                func indexes(_ condition: SQL) throws -> [String] {
                    try db.all(
                        """
                        SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
                        WHERE c.relnamespace = 'deuce_diary'::regnamespace AND \(condition)
                        """
                    ) { try $0.get(0) }
                }
                return try (
                    indexes("true"),
                    indexes(#"NOT i.indcollation::oid[] <@ ARRAY[0, 'pg_catalog."C"'::regcollation::oid]"#)
                )
            }
            #expect(all.contains("users_username_key_key"))
            #expect(byLocale == [])
        }
    }

    /// Opening again changes nothing, and seeds no location twice.
    @Test(arguments: Stack.Engine.available)
    func aDatabaseIsBroughtUpToDateOnce(_ engine: Stack.Engine) async throws {
        try await withTestDatabase(on: engine) { place in
            for _ in 0..<3 {
                let database = try place.open(DeuceDiaryService.schema)
                let (steps, seeds) = try await database.read { db in
                    (
                        try db.all("SELECT name FROM schema_migrations ORDER BY version") {
                            try $0.get(0, as: String.self)
                        },
                        try db.value("SELECT COUNT(*) FROM locations WHERE is_default = 1", as: Int.self)
                    )
                }
                #expect(steps == DeuceDiaryService.schema.migrations.map(\.name))
                #expect(seeds == 8)
                try await database.close()
            }
        }
    }
}
