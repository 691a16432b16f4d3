import Database
import Foundation

/// Settings of PostgreSQL that are unlike the usual ones in whatever changes how values are sent, read and committed. The
/// database has some, the role others, and the environment of a process some more.
public enum OddSettings {
    private static let ofDatabase = [
        "bytea_output": "escape", "client_encoding": "LATIN1", "DateStyle": "SQL, DMY", "IntervalStyle": "sql_standard",
        "TimeZone": "Asia/Kathmandu", "extra_float_digits": "-15", "standard_conforming_strings": "off",
        "default_transaction_isolation": "serializable", "default_transaction_read_only": "on",
        "default_transaction_deferrable": "on", "search_path": "elsewhere", "row_security": "off",
        "transform_null_equals": "on", "quote_all_identifiers": "on", "synchronous_commit": "off",
        "exit_on_error": "on",
    ]
    private static let ofRole = [
        "client_encoding": "EUC_JP", "DateStyle": "Postgres, MDY", "bytea_output": "escape", "search_path": "nowhere",
        "default_transaction_isolation": "repeatable read",
    ]
    /// No connection lasts with these, unless it sets them itself before its first statement.
    private static let timeouts = [
        "statement_timeout": "1", "lock_timeout": "1", "idle_in_transaction_session_timeout": "1",
        "idle_session_timeout": "1",
    ]

    /// The environment of a process.
    public static let environment = [
        "PGCLIENTENCODING": "LATIN1", "PGDATESTYLE": "SQL, DMY", "PGTZ": "Asia/Kathmandu", "PGGEQO": "off",
        "PGOPTIONS": "-c bytea_output=escape -c default_transaction_read_only=on -c statement_timeout=1",
    ]

    /// Runs a closure with a database of a test that has such settings, and a role of its own with others.
    ///
    /// - Parameter isPooled: Whether transactions go through a pooler, whose connections are of another role and are not ended
    ///   by timeouts.
    public static func with<T>(
        _ place: TestDatabase, isPooled: Bool = false, _ body: (TestDatabase) async throws -> T
    ) async throws -> T {
        guard let url = place.url, var parts = URLComponents(string: url) else { return try await body(place) }
        let (database, role) = (parts.path.dropFirst(), "odd_\(UUID().uuidString.lowercased().prefix(8))")
        func administer(_ statements: [String]) throws {
            for statement in statements { try Database.administer(url: url, statement) }
        }
        func set(_ settings: [String: String], of owner: String) throws {
            try administer(settings.map { "ALTER \(owner) SET \($0) = '\($1)'" })
        }
        try administer(["CREATE ROLE \(role) LOGIN CREATEDB", "ALTER DATABASE \(database) OWNER TO \(role)"])
        try set(ofDatabase, of: "DATABASE \(database)")
        try set(ofRole, of: "ROLE \(role)")
        if !isPooled { try set(timeouts, of: "ROLE \(role) IN DATABASE \(database)") }
        parts.user = role
        let result: Result<T, any Error>
        do {
            result = .success(try await body(TestDatabase(folder: place.folder, url: parts.string)))
        } catch {
            result = .failure(error)
        }
        try administer(["REASSIGN OWNED BY \(role) TO CURRENT_USER", "DROP OWNED BY \(role)", "DROP ROLE \(role)"])
        return try result.get()
    }
}
