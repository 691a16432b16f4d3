import Database
import Foundation

/// The location of a test's own database, so that it can be opened more than once.
public struct TestDatabase: Sendable {
    /// The folder for files: SQLite's, and a server's own.
    public let folder: String
    /// The PostgreSQL database as `--database` takes it; nil on SQLite.
    public let url: String?

    /// Returns the same database as reached through another port, such as a proxy's.
    public func at(port: Int) -> TestDatabase {
        var parts = url.flatMap { URLComponents(string: $0) }
        parts?.port = port
        return TestDatabase(folder: folder, url: parts?.string ?? url)
    }

    /// Returns the same database as reached through a proxy that reads what goes through it.
    public func at(_ proxy: AnnouncementProxy) -> TestDatabase {
        var parts = at(port: proxy.port).url.flatMap { URLComponents(string: $0) }
        let plain = ["sslmode", "gssencmode"].map { URLQueryItem(name: $0, value: "disable") }
        let items = parts?.queryItems ?? []
        parts?.queryItems = items + plain
        return TestDatabase(folder: folder, url: parts?.string ?? url)
    }

    /// Runs a closure with the URL of a second database on the same server, which is dropped afterwards; nil on SQLite.
    ///
    /// - Parameter options: The options of `CREATE DATABASE`.
    public func withSecond<T>(
        _ options: String = "", _ body: (_ url: String?) async throws -> T
    ) async throws -> T {
        guard let url, var parts = URLComponents(string: url) else { return try await body(nil) }
        let name = "\(parts.path.dropFirst())_2"
        parts.path = "/\(name)"
        try Database.administer(url: url, "CREATE DATABASE \(name) \(options)")
        let result: Result<T, any Error>
        do { result = .success(try await body(parts.string)) } catch { result = .failure(error) }
        try Database.administer(url: url, "DROP DATABASE \(name) WITH (FORCE)")
        return try result.get()
    }

    /// The port of its server; nil on SQLite.
    public var port: Int? { url.flatMap { URLComponents(string: $0)?.port } }

    /// Opens the database, and brings it up to date.
    public func open(_ schema: Schema) throws -> Database {
        guard let url else {
            return try .sqlite(path: "\(folder)/\(schema.name).sqlite", schema: schema, waiting: .patient)
        }
        // A connection that takes long is tried again: the program gives up after five seconds.
        for _ in 0..<20 {
            do { return try .postgreSQL(url: url, schema: schema, connections: 4, waiting: .patient) } catch {
                guard "\(error)".contains("timeout expired") else { throw error }
            }
        }
        return try .postgreSQL(url: url, schema: schema, connections: 4, waiting: .patient)
    }
}

/// Runs a test with a database of its own, and removes the database afterwards.
///
/// - Parameter schema: The schema that the database has from the start, for tests that are not about migrations: on
///   PostgreSQL the database is then a copy. By default the database is empty.
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
