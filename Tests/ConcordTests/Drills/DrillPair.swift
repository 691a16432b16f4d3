import Foundation
import Testbed

/// A primary and its synchronous standby. Clients name both, and libpq connects them to the one that takes writes.
actor DrillPair {
    /// The URL with both servers.
    nonisolated let url: String
    private let folder: String
    private let ports: [Int]
    private var primary: TestPostgreSQL
    private var standby: TestPostgreSQL?
    /// The number of servers that have been made.
    private var made = 1

    private init(folder: String, ports: [Int], primary: TestPostgreSQL) {
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
            let first = TestPostgreSQL(folder: folder + "/1", port: ports[0])
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
        let standby = TestPostgreSQL(folder: "\(folder)/\(made)", port: port, standbyOf: primary.port)
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
