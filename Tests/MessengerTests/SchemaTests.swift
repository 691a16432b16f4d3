import Database
import MessengerService
import Testbed
import Testing

/// How Messenger's tables are laid out.
@Suite struct SchemaTests {
    /// An index that goes by a locale is wrong after the next upgrade of the operating system's locales.
    @Test(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"))
    func noIndexGoesByTheServersLocale() async throws {
        try await withMessenger(on: Stack(.postgreSQL, .inProcess)) { host in
            let (all, byLocale) = try await host.database.read { db in
                func indexes(_ condition: SQL) throws -> [String] {
                    try db.all(
                        """
                        SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
                        WHERE c.relnamespace = 'messenger'::regnamespace AND \(condition)
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
}
