import Foundation

/// A test's own PostgreSQL server, with its durable default settings.
///
/// It may be a standby of another one. A primary with a synchronous standby acknowledges a commit once both have it.
public actor TestPostgreSQL {
    public nonisolated let url: String
    public nonisolated let port: Int
    private let folder: String
    private let server: ToolServer

    /// - Parameters:
    ///   - primary: The port of the server of which this one becomes a standby; nil for none.
    ///   - settings: More of its settings, such as `cluster_name=standby`.
    public init(folder: String, port: Int, standbyOf primary: Int? = nil, settings: [String] = []) {
        self.folder = folder
        self.port = port
        url = "postgres://postgres@127.0.0.1:\(port)/postgres"
        server = ToolServer(
            "postgresql-server", [folder, "\(port)"] + settings,
            environment: primary.map { ["POSTGRESQL_PRIMARY": "\($0)"] } ?? [:], readyAfter: "postgres://")
    }

    public static func serving(_ body: (TestPostgreSQL) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let server = TestPostgreSQL(folder: folder + "/postgresql", port: try await reservePort())
            let result: Result<Void, any Error>
            do {
                try await server.start()
                result = .success(try await body(server))
            } catch {
                result = .failure(error)
            }
            await server.stop()
            try result.get()
        }
    }

    /// Starts the server, and returns once it accepts connections; after a crash, that is after its recovery.
    public func start() async throws { try await server.start() }

    /// Stops the server with `pg_ctl -m immediate stop`, which has the effect of a power failure.
    public func stop() async { await server.stop() }

    /// Kills all of the server's processes at once, as when its machine ends.
    public func kill() async throws {
        let file = folder + "/data/postmaster.pid"
        let script = "read pid <\"$0\"; exec kill -9 $pid $(cat /proc/$pid/task/$pid/children)"
        let result = try await StockTools.run("/bin/sh", ["-c", script, file])
        guard result.status == 0 else { throw ToolServer.Refused(description: result.output) }
        await stop()
    }
}

extension TestPostgreSQL {
    /// Runs a statement, and returns what `psql` prints.
    @discardableResult
    public nonisolated func run(_ statement: String) async throws -> String {
        let result = try await StockTools.run("/usr/bin/env", ["psql", url, "-Atc", statement])
        guard result.status == 0 else { throw ToolServer.Refused(description: result.output) }
        return result.output
    }
}

/// A primary whose commits wait until its standby shows them.
public struct ReplicatedPostgreSQL: Sendable {
    public let primary: TestPostgreSQL
    public let standby: TestPostgreSQL

    /// - Parameter settings: More settings of the standby.
    public static func serving(
        _ settings: [String] = [], _ body: (ReplicatedPostgreSQL) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let primary = TestPostgreSQL(folder: folder + "/primary", port: try await reservePort())
            let standby = TestPostgreSQL(
                folder: folder + "/standby", port: try await reservePort(), standbyOf: primary.port,
                settings: ["cluster_name=standby"] + settings)
            let server = ReplicatedPostgreSQL(primary: primary, standby: standby)
            let result: Result<Void, any Error>
            do {
                try await primary.start()
                try await standby.start()
                for name in defaults.keys { try await server.set(name, to: nil) }
                result = .success(try await body(server))
            } catch {
                result = .failure(error)
            }
            await primary.stop()
            await standby.stop()
            try result.get()
        }
    }

    private static let defaults = [
        "synchronous_standby_names": "FIRST 1 (standby)", "synchronous_commit": "remote_apply",
    ]

    /// Changes a setting of the primary; nil for the one with which commits wait.
    public func set(_ name: String, to value: String?) async throws {
        let value = value ?? Self.defaults[name] ?? ""
        try await primary.run("ALTER SYSTEM SET \(name) = '\(value)'")
        try await primary.run("SELECT pg_reload_conf()")
    }
}
