import Foundation

/// Servers of other projects that tests start on free ports of this machine, and that end with the tests.
///
/// `make test` unpacks them (Tools/unpack-packages); else those that are installed are used.
public enum TestServers {
    /// The command that runs Redis; nil where there is none.
    public static let redis = command("redis-server")
    /// The command that runs PgBouncer; nil where there is none.
    public static let pgBouncer = command("pgbouncer")
    /// The command that runs HAProxy; nil where `make test` has not unpacked it.
    public static let haProxy = Proxies.runner.map { [$0, "haproxy"] }

    /// The folder with the programs that `Tools/cluster-machine` runs; nil where there are none.
    public static let cluster = unpacked.flatMap { folder in
        let programs = ["/usr/bin/etcd", "/usr/lib/python3/dist-packages/patroni"]
        return programs.allSatisfy { FileManager.default.fileExists(atPath: folder + $0) } ? folder : nil
    }

    /// The folder into which `make test` has unpacked them; nil where it has not.
    fileprivate static let unpacked = ProcessInfo.processInfo.environment["CONCORD_SERVERS"].flatMap { folder in
        FileManager.default.isExecutableFile(atPath: folder + "/run") ? folder : nil
    }

    private static func command(_ name: String) -> [String]? {
        let manager = FileManager.default
        if let unpacked { return [unpacked + "/run", name] }
        let folders = ["/usr/bin", "/usr/sbin", "/opt/homebrew/bin"]
        return folders.map { "\($0)/\(name)" }.first(where: manager.isExecutableFile).map { [$0] }
    }
}

/// A process of another project's server. It is killed with `kill -9`, at the latest when the tests end.
public actor ForeignServer {
    /// Starts a command, and kills it when this shell's standard input ends. Most signals are blocked in what tests start.
    private static let script = """
        exec 3<&0
        "$@" </dev/null &
        server=$!
        echo "server $server"
        (read -r <&3; kill -9 $server) &
        watcher=$!
        wait $server
        kill -9 $watcher
        """

    private let command: [String]
    private let mark: String
    private var running: (input: Input, output: Output, ending: ProcessEnding)?

    /// - Parameter mark: The words that it writes once it accepts connections; empty for one that says nothing.
    public init(_ command: [String], readyAfter mark: String) {
        self.command = command
        self.mark = mark
    }

    /// Starts it, and returns once it accepts connections.
    public func start() async throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", Self.script, "bash"] + command
        let (input, output) = (Input(), Output())
        process.standardInput = input.end
        process.standardOutput = output.end
        process.standardError = output.end
        let ending = try ProcessEnding(running: process)
        input.begin()
        output.begin()
        running = (input, output, ending)
        for await text in output.texts where text.contains("\n") && (mark.isEmpty || text.contains(mark)) { return }
        throw Refused(description: output.text)
    }

    /// Kills it, and waits until it has ended.
    public func kill() async {
        guard let running else { return }
        // The end of the input is not enough: a process that was started meanwhile may have inherited it.
        if let id = running.output.text.firstMatch(of: /server (\d+)\n/).flatMap({ Int32($0.output.1) }) {
            _ = Foundation.kill(id, SIGKILL)
        }
        running.input.finish()
        _ = await running.ending.status
        self.running = nil
    }

    /// Runs a closure while the server runs.
    public nonisolated func serving<T>(_ body: () async throws -> T) async throws -> T {
        let result: Result<T, any Error>
        do {
            try await start()
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        await kill()
        return try result.get()
    }

    public struct Refused: Error, CustomStringConvertible {
        public let description: String
    }
}

/// A Redis of a test.
public struct TestRedis: Sendable {
    public let server: ForeignServer
    public let port: Int
    /// Its URL, as `--bus` takes it.
    public var url: String { "redis://127.0.0.1:\(port)" }

    /// Runs one while the closure runs.
    ///
    /// - Parameter settings: More of its settings.
    public static func serving<T>(
        _ settings: [String] = [], _ body: (TestRedis) async throws -> T
    ) async throws -> T {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let command =
                (TestServers.redis ?? []) + [
                    "--port", "\(port)", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder,
                ] + settings
            let server = ForeignServer(command, readyAfter: "Ready to accept connections")
            return try await server.serving { try await body(TestRedis(server: server, port: port)) }
        }
    }

    /// The same Redis as reached through a proxy.
    public func at(_ proxy: AnnouncementProxy) -> String { "redis://127.0.0.1:\(proxy.port)" }
}

/// A PgBouncer of a test, which gives each transaction one of a few connections to the database.
public struct TestPooler: Sendable {
    public let server: ForeignServer
    public let port: Int

    /// Runs one in front of a server on this machine while the closure runs.
    public static func serving<T>(
        for target: Int, connections: Int = 5, _ body: (TestPooler) async throws -> T
    ) async throws -> T {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let file = folder + "/pgbouncer.ini"
            let settings = """
                [databases]
                * = host=127.0.0.1 port=\(target) user=postgres
                [pgbouncer]
                listen_addr = 127.0.0.1
                listen_port = \(port)
                unix_socket_dir =
                auth_type = any
                pool_mode = transaction
                default_pool_size = \(connections)
                max_client_conn = 200
                """
            try settings.write(toFile: file, atomically: true, encoding: .utf8)
            var command = (TestServers.pgBouncer ?? []) + [file]
            // It refuses to run as root, and so does PostgreSQL, whose package has a user. That user may not be able to
            // reach the folder of this package.
            if getuid() == 0 {
                if let unpacked = TestServers.unpacked {
                    try FileManager.default.copyItem(atPath: unpacked, toPath: folder + "/servers")
                    command[0] = folder + "/servers/run"
                }
                command = ["/usr/bin/setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] + command
            }
            let server = ForeignServer(command, readyAfter: "process up")
            return try await server.serving { try await body(TestPooler(server: server, port: port)) }
        }
    }
}
