import Foundation
import Testbed

/// A drill's own PostgreSQL server, with its durable default settings.
///
/// It may be a standby of another one. A primary with a synchronous standby acknowledges a commit once both have it.
actor DrillPostgreSQL {
    nonisolated let url: String
    private let folder: String
    nonisolated let port: Int
    private let primary: Int?
    private var server: (input: FileHandle, ending: ProcessEnding)?

    /// - Parameter primary: The port of the server of which this one becomes a standby; nil for none.
    init(folder: String, port: Int, standbyOf primary: Int? = nil) {
        self.folder = folder
        self.port = port
        self.primary = primary
        url = "postgres://postgres@127.0.0.1:\(port)/postgres"
    }

    static func serving(_ body: (DrillPostgreSQL) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let server = DrillPostgreSQL(folder: folder + "/postgresql", port: try await reservePort())
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
    func start() async throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: StockTools.package + "/Tools/postgresql-server")
        process.arguments = [folder, "\(port)"]
        if let primary {
            process.environment = ProcessInfo.processInfo.environment.merging(["POSTGRESQL_PRIMARY": "\(primary)"]) {
                $1
            }
        }
        let (input, output) = (Pipe(), Output())
        // If a process that is started meanwhile inherited it, the server would not end.
        _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        process.standardInput = input
        process.standardOutput = output.end
        process.standardError = output.end
        let ending = try ProcessEnding(running: process)
        output.begin()
        server = (input.fileHandleForWriting, ending)
        for await text in output.texts where text.contains("postgres://") { return }
        throw Refused(description: output.text)
    }

    /// Stops the server with `pg_ctl -m immediate stop`, which has the effect of a power failure.
    func stop() async {
        try? server?.input.close()
        _ = await server?.ending.status
        server = nil
    }

    /// Kills all of the server's processes at once, as when its machine ends.
    func kill() async throws {
        let file = folder + "/data/postmaster.pid"
        let script = "read pid <\"$0\"; exec kill -9 $pid $(cat /proc/$pid/task/$pid/children)"
        let result = try await StockTools.run("/bin/sh", ["-c", script, file])
        guard result.status == 0 else { throw Refused(description: result.output) }
        await stop()
    }

    struct Refused: Error, CustomStringConvertible {
        let description: String
    }
}

/// A primary and its synchronous standby. Clients name both, and libpq connects them to the one that takes writes.
actor DrillPair {
    /// The URL with both servers.
    nonisolated let url: String
    private let folder: String
    private let ports: [Int]
    private var primary: DrillPostgreSQL
    private var standby: DrillPostgreSQL?
    /// The number of servers that have been made.
    private var made = 1

    private init(folder: String, ports: [Int], primary: DrillPostgreSQL) {
        self.folder = folder
        self.ports = ports
        self.primary = primary
        url =
            "postgres://postgres@\(ports.map { "127.0.0.1:\($0)" }.joined(separator: ","))/postgres"
            + "?target_session_attrs=read-write"
    }

    static func serving(_ body: (DrillPair) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let ports = [try await reservePort(), try await reservePort()]
            let first = DrillPostgreSQL(folder: folder + "/1", port: ports[0])
            let pair = DrillPair(folder: folder, ports: ports, primary: first)
            let result: Result<Void, any Error>
            do {
                try await first.start()
                try await pair.addStandby()
                result = .success(try await body(pair))
            } catch {
                result = .failure(error)
            }
            await pair.stop()
            try result.get()
        }
    }

    /// Stops the primary as in a power failure, or kills its processes, and makes the standby the primary.
    func failOver(byKilling: Bool = false) async throws {
        guard let standby else { return }
        if byKilling { try await primary.kill() } else { await primary.stop() }
        try await standby.run("SELECT pg_promote()")
        (primary, self.standby) = (standby, nil)
    }

    /// Starts a standby of the primary, and returns once every commit waits for it.
    func addStandby() async throws {
        made += 1
        let port = ports.first { $0 != primary.port } ?? 0
        let standby = DrillPostgreSQL(folder: "\(folder)/\(made)", port: port, standbyOf: primary.port)
        self.standby = standby
        try await standby.start()
        try await primary.run("ALTER SYSTEM SET synchronous_standby_names = '*'")
        try await primary.run("SELECT pg_reload_conf()")
        while try await primary.run("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") != "1\n" {
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    private func stop() async {
        await primary.stop()
        await standby?.stop()
    }
}

extension DrillPostgreSQL {
    /// Runs a statement, and returns what `psql` prints.
    @discardableResult
    nonisolated func run(_ statement: String) async throws -> String {
        let result = try await StockTools.run("/usr/bin/env", ["psql", url, "-Atc", statement])
        guard result.status == 0 else { throw Refused(description: result.output) }
        return result.output
    }
}
