import Database
import Foundation
import Testing

/// Where a test's own database is, so that it can be opened more than once.
public struct TestDatabase: Sendable {
    let engine: Stack.Engine
    /// For files.
    let folder: String
    /// The schema of its own that a test has in the shared PostgreSQL.
    let namespace: String

    /// Opens it, making it the first time.
    public func open(_ schema: Schema) throws -> Database {
        switch engine {
        case .sqlite:
            return try .sqlite(path: "\(folder)/\(schema.name).sqlite", schema: schema)
        case .postgreSQL:
            let url = try #require(Stack.postgreSQL)
            return try .postgreSQL(url: url, schema: schema, namespace: namespace, connections: 4)
        }
    }

    /// Removes what is left of it in a shared server.
    func remove() async throws {
        guard engine == .postgreSQL else { return }
        let janitor = try Database.postgreSQL(
            url: try #require(Stack.postgreSQL), schema: Schema("janitor", []), connections: 1)
        try await janitor.write { [namespace] db in
            try db.run(SQL(stringLiteral: "DROP SCHEMA IF EXISTS \"\(namespace)\" CASCADE"))
        }
        try await janitor.close()
    }
}

/// Runs a test with a database of its own, and removes it.
public func withTestDatabase<T>(
    on engine: Stack.Engine, _ body: (TestDatabase) async throws -> T
) async throws -> T {
    try await Slots.servers.use {
        try await withOwnDatabase(on: engine, body)
    }
}

private func withOwnDatabase<T>(
    on engine: Stack.Engine, _ body: (TestDatabase) async throws -> T
) async throws -> T {
    try await withTemporaryFolder { folder in
        let namespace = "test_\(UUID().uuidString.lowercased().prefix(13).filter { $0 != "-" })"
        let database = TestDatabase(engine: engine, folder: folder, namespace: namespace)
        let result: T
        do {
            result = try await body(database)
        } catch {
            try? await database.remove()
            throw error
        }
        try await database.remove()
        return result
    }
}
