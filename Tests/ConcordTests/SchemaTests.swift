import Database
import DeuceDiaryService
import DunbarService
import GTSDService
import MessengerService
import MonicaService
import Testbed
import Testing

/// What holds for the tables of every API.
@Suite struct SchemaTests {
    /// Each with one of its indexes that goes by text.
    private static let schemas = [
        (MessengerService.schema, "users_username_key_key"), (DeuceDiaryService.schema, "users_username_key_key"),
        (MonicaService.schema, "accounts_name_key"), (GTSDService.schema, "users_email_key"),
        (DunbarService.schema, "users_username_key_key"),
    ]

    /// An index that goes by a locale is wrong after the next upgrade of the operating system's locales.
    @Test(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"), arguments: schemas)
    func noIndexGoesByTheServersLocale(_ schema: Schema, _ index: String) async throws {
        try await withTestDatabase(on: .postgreSQL, migrated: schema) { place in
            let database = try place.open(schema)
            let (all, byLocale) = try await database.read { db in
                func indexes(_ condition: SQL) throws -> [String] {
                    try db.all(
                        """
                        SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
                        WHERE c.relnamespace = current_schema()::regnamespace AND \(condition)
                        """
                    ) { try $0.get(0) }
                }
                return try (
                    indexes("true"),
                    indexes(#"NOT i.indcollation::oid[] <@ ARRAY[0, 'pg_catalog."C"'::regcollation::oid]"#)
                )
            }
            #expect(all.contains(index))
            #expect(byLocale == [])
            try await database.close()
        }
    }

    /// Opening again changes nothing.
    @Test(arguments: Stack.Engine.available, schemas.map(\.0))
    func aDatabaseIsBroughtUpToDateOnce(_ engine: Stack.Engine, _ schema: Schema) async throws {
        try await withTestDatabase(on: engine) { place in
            for _ in 0..<3 {
                let database = try place.open(schema)
                let steps = try await database.read { db in
                    try db.all("SELECT name FROM schema_migrations ORDER BY version") { try $0.get(0, as: String.self) }
                }
                #expect(steps == schema.migrations.map(\.name))
                try await database.close()
            }
        }
    }
}
