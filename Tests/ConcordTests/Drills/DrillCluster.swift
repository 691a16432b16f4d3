import Contract
import Foundation
import Testbed

/// Three machines with etcd, two of them with PostgreSQL under Patroni: the configuration of docs/growing.md, with ports of
/// this machine in place of its addresses.
actor DrillCluster {
    /// The URL with both PostgreSQL servers.
    nonisolated let url: String
    private let machines: [Machine]
    private let ports: [String: Int]

    private struct Machine {
        let name: String
        let address: String
        let hasDatabase: Bool
        let server: ToolServer
    }

    /// The members of the cluster, as Patroni lists them.
    private struct Members: Decodable {
        struct Member: Decodable {
            var name: String
            var role: String
            var state: String
        }

        var members: [Member]

        var leader: String? { members.first { $0.role == "leader" && $0.state == "running" }?.name }
        var isWhole: Bool { leader != nil && members.contains { $0.role == "sync_standby" } }
    }

    static func serving(_ body: (DrillCluster) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let cluster = try await DrillCluster(folder)
            let result: Result<Void, any Error>
            do {
                try await cluster.start()
                result = .success(try await body(cluster))
            } catch {
                result = .failure(error)
            }
            await cluster.stop()
            try result.get()
        }
    }

    private init(_ folder: String) async throws {
        let programs = TestServers.cluster ?? ""
        let blocks = try Proxies.blocks(of: "growing.md")
        let (etcd, patroni) = (blocks["ini"] ?? "", blocks["yaml"] ?? "")
        var ports: [String: Int] = [:]
        for match in (etcd + patroni).matches(of: #/10\.0\.0\.\d+:\d+/#) where ports[String(match.output)] == nil {
            ports[String(match.output)] = try await reservePort()
        }
        for (address, port) in [("10.0.0.22", 8008), ("10.0.0.22", 5432)] {
            ports["\(address):\(port)"] = try await reservePort()
        }
        self.ports = ports
        var machines: [Machine] = []
        for (name, address) in [("db1", "10.0.0.21"), ("db2", "10.0.0.22"), ("db3", "10.0.0.23")] {
            let place = "\(folder)/\(name)"
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
            let hasDatabase = name != "db3"
            var files = ["etcd": etcd]
            if hasDatabase {
                files["patroni.yml"] = patroni + "  parameters:\n    unix_socket_directories: \(place)\n"
            }
            for (file, text) in files {
                try Self.text(text, of: name, at: address, in: place, ports)
                    .write(toFile: "\(place)/\(file)", atomically: true, encoding: .utf8)
            }
            let server = ToolServer("cluster-machine", [place, programs], readyAfter: "started")
            machines.append(Machine(name: name, address: address, hasDatabase: hasDatabase, server: server))
        }
        self.machines = machines
        let hosts = machines.filter(\.hasDatabase).map { "127.0.0.1:\(ports["\($0.address):5432"] ?? 0)" }
        url = "postgres://concord:change-me-5@\(hosts.joined(separator: ","))/concord?target_session_attrs=read-write"
    }

    /// Returns the page's configuration of db1 as that of a machine whose data and ports are the test's own.
    private static func text(
        _ text: String, of name: String, at address: String, in place: String, _ ports: [String: Int]
    ) throws -> String {
        // The list of all etcd members has every machine's own name and address.
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            if line.contains("10.0.0.22") { return String(line) }
            return String(line).replacing("db1", with: name).replacing("10.0.0.21", with: address)
        }
        return lines.joined(separator: "\n")
            .replacing(#/10\.0\.0\.\d+:\d+/#) { "127.0.0.1:\(ports[String($0.output)] ?? 0)" }
            .replacing("10.0.0.0/24", with: "127.0.0.1/32")
            .replacing("/var/lib/etcd/concord", with: place + "/etcd.data")
            .replacing("/var/lib/postgresql/15/concord", with: place + "/data")
            .replacing("/var/lib/postgresql/pgpass", with: place + "/pgpass")
    }

    // MARK: Failures

    /// Hands the lead over to the standby, as before the maintenance of the leader's machine.
    func switchOver() async throws {
        let leader = try await leader()
        let answer = try await ask(
            leader, "/switchover", ["-u", "patroni:change-me-4", "-d", "{\"leader\": \"\(leader.name)\"}"])
        guard answer.contains("Successfully switched over") else { throw ToolServer.Refused(description: answer) }
    }

    /// Kills everything on the leader's machine at once.
    func killLeader() async throws { await (try await leader()).server.stop() }

    /// Starts the machines that were killed, and returns once commits wait for a standby again.
    func restore() async throws {
        for machine in machines { try await machine.server.start() }
        while try await !members().isWhole { try await Task.sleep(for: .milliseconds(200)) }
    }

    private func leader() async throws -> Machine {
        while true {
            let name = try await members().leader
            if let machine = machines.first(where: { $0.name == name }) { return machine }
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    // MARK: Running

    private func start() async throws {
        try await restore()
        let leader = try await leader()
        let url = "postgres://postgres:change-me-1@127.0.0.1:\(ports["\(leader.address):5432"] ?? 0)/postgres"
        for statement in try Proxies.blocks(of: "growing.md")["postgresql"]?.split(separator: "\n") ?? [] {
            let result = try await StockTools.run("/usr/bin/env", ["psql", url, "-Atc", String(statement)])
            guard result.status == 0 else { throw ToolServer.Refused(description: result.output) }
        }
    }

    private func stop() async { for machine in machines { await machine.server.stop() } }

    /// Returns what the first machine that answers says; no members when none does.
    private func members() async throws -> Members {
        for machine in machines where machine.hasDatabase {
            let answer = try await ask(machine, "/cluster", [])
            if let members = try? JSONDecoder().decode(Members.self, from: Data(answer.utf8)) { return members }
        }
        return Members(members: [])
    }

    /// Asks a machine's Patroni; an empty answer means that there is none.
    private func ask(_ machine: Machine, _ path: String, _ arguments: [String]) async throws -> String {
        let port = ports["\(machine.address):8008"] ?? 0
        return try await StockTools.run(
            "/usr/bin/curl", ["-s", "-m", "60"] + arguments + ["http://127.0.0.1:\(port)\(path)"]
        ).output
    }
}
