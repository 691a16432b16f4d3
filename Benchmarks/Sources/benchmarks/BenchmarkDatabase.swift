import Foundation

/// A benchmark's own database in a given PostgreSQL server.
struct BenchmarkDatabase: Sendable {
    let url: String
    private let postmaster: Int

    /// Runs a closure with an empty database, and drops it.
    static func with<T>(at server: String, _ body: (BenchmarkDatabase) async throws -> T) async throws -> T {
        let name = "concord_benchmark_\(UUID().uuidString.lowercased().filter { $0 != "-" })"
        guard var url = URLComponents(string: server) else { throw Failed("no URL: \(server)") }
        url.path = "/\(name)"
        try psql(server, "CREATE DATABASE \(name)")
        defer { _ = try? psql(server, "DROP DATABASE \(name) WITH (FORCE)") }
        let child = try psql(server, "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'")
        let database = BenchmarkDatabase(
            url: url.string ?? "", postmaster: ProcessFigures(Int(child) ?? 0)?.parent ?? 0)
        return try await body(database)
    }

    /// Runs statements, each in a transaction of its own, and returns their output without decoration.
    @discardableResult
    static func psql(_ url: String, _ statements: String...) throws -> String { try psql(url, statements) }

    @discardableResult
    static func psql(_ url: String, _ statements: [String]) throws -> String {
        let text = try Spawn.run(
            "psql", ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", url] + statements.flatMap { ["-c", $0] })
        return text.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The CPU time of PostgreSQL's processes so far, including those that have ended.
    var cpu: Duration {
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        let children = processes.compactMap { Int($0).flatMap(ProcessFigures.init) }.filter { $0.parent == postmaster }
        return children.reduce(ProcessFigures(postmaster)?.cpuWithChildren ?? .zero) { $0 + $1.cpu }
    }
}
