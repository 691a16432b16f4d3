import Database
import Foundation

/// Where a test's own database is, so that it can be opened more than once.
public struct TestDatabase: Sendable {
    /// For files: SQLite's, and a server's own.
    public let folder: String
    /// Where it is in PostgreSQL, as `--database` takes it; nil on SQLite.
    public let url: String?

    /// The same, reached by another way: a proxy's port.
    public func at(port: Int) -> TestDatabase {
        var parts = url.flatMap { URLComponents(string: $0) }
        parts?.port = port
        return TestDatabase(folder: folder, url: parts?.string ?? url)
    }

    /// Where its server listens; nil on SQLite.
    public var port: Int? { url.flatMap { URLComponents(string: $0)?.port } }

    /// Opens it, and brings it up to date.
    public func open(_ schema: Schema) throws -> Database {
        // A test's machine may be busy: what waits is not refused for that.
        var waiting = Waiting()
        (waiting.target, waiting.longest, waiting.standstill) = (.seconds(300), .seconds(300), .seconds(300))
        guard let url else {
            return try .sqlite(path: "\(folder)/\(schema.name).sqlite", schema: schema, waiting: waiting)
        }
        return try .postgreSQL(url: url, schema: schema, connections: 4, waiting: waiting)
    }
}

/// Runs a test with a database of its own, and removes it.
///
/// - Parameter schema: What it is up to date with from the start, for tests that are not about migrations: on
///   PostgreSQL it is then a copy. By default it is empty.
public func withTestDatabase<T>(
    on engine: Stack.Engine, migrated schema: Schema? = nil, _ body: (TestDatabase) async throws -> T
) async throws -> T {
    try await Slots.servers.use {
        try await withTemporaryFolder { folder in
            switch engine {
            case .sqlite: try await body(TestDatabase(folder: folder, url: nil))
            case .postgreSQL:
                try await PostgreSQLServer.withDatabase(migrated: schema) { url in
                    try await body(TestDatabase(folder: folder, url: url))
                }
            }
        }
    }
}
