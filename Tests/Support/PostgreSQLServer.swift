import Database
import Foundation
import NIOConcurrencyHelpers
import NIOPosix
import Testing

/// The PostgreSQL server that `make test` starts. A schema is migrated once, in a template; tests get copies of the
/// template.
actor PostgreSQLServer {
    private static let shared = PostgreSQLServer()

    private var templates: [String: Task<String, any Error>] = [:]

    /// Runs a closure with a database of its own, and drops the database even if connections to it are open.
    static func withDatabase<T>(
        migrated schema: Schema?, _ body: (_ url: String) async throws -> T
    ) async throws -> T {
        let name = freshName("test")
        var template = "template1"
        if let schema { template = try await shared.template(of: schema) }
        // Copying files is faster than logging their content when there is little else to write.
        try await administer("CREATE DATABASE \(name) TEMPLATE \(template) STRATEGY file_copy")
        let result: Result<T, any Error>
        do { result = .success(try await body(try url(of: name))) } catch { result = .failure(error) }
        try await administer(drop(name))
        return try result.get()
    }

    /// Returns the name of a database that is up to date with a schema and has no connections.
    private func template(of schema: Schema) async throws -> String {
        let template =
            templates[schema.name]
            ?? Task {
                let name = Self.freshName("template_\(schema.name.replacing("-", with: "_"))")
                Self.leftovers.withLockedValue { $0.append(name) }
                try await Self.administer("CREATE DATABASE \(name)")
                try await Database.postgreSQL(url: Self.url(of: name), schema: schema, connections: 1).close()
                return name
            }
        templates[schema.name] = template
        return try await template.value
    }

    /// The names of the templates, which are dropped when the tests are over.
    private static let leftovers: NIOLockedValueBox<[String]> = {
        atexit {
            for name in leftovers.withLockedValue({ $0 }) {
                guard let url = Stack.postgreSQL else { continue }
                try? Database.administer(url: url, drop(name))
            }
        }
        return NIOLockedValueBox([])
    }()

    private static func freshName(_ purpose: String) -> String {
        "concord_\(purpose)_\(UUID().uuidString.lowercased().filter { $0 != "-" })"
    }

    private static func drop(_ name: String) -> String { "DROP DATABASE IF EXISTS \(name) WITH (FORCE)" }

    private static func url(of name: String) throws -> String {
        var url = try #require(Stack.postgreSQL.flatMap { URLComponents(string: $0) })
        url.path = "/\(name)"
        return try #require(url.string)
    }

    private static func administer(_ statement: String) async throws {
        let url = try #require(Stack.postgreSQL)
        try await NIOThreadPool.singleton.runIfActive { try Database.administer(url: url, statement) }
    }
}
