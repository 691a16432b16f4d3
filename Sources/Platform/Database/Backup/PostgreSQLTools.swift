import Foundation
import Processes

/// The programs `pg_dump` and `pg_restore`, of the version of the server or a newer one.
package struct PostgreSQLTools: Sendable {
    /// The most bytes of a program's output, which are messages and lists of tables.
    private static let outputLimit = 4 << 20

    private let environment: [String: String]
    private var isCancelled: @Sendable () -> Bool = { false }

    /// Finds the programs in the folder that the variable `POSTGRESQL_BIN` names, in those of `PATH`, and where Debian
    /// and Homebrew have them.
    package init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.environment = environment
    }

    /// Returns the same programs, which are ended when the closure returns true.
    func stopped(by isCancelled: @escaping @Sendable () -> Bool) -> PostgreSQLTools {
        var tools = self
        tools.isCancelled = isCancelled
        return tools
    }

    // MARK: Work

    /// Dumps one schema, as it is in an exported snapshot, to a file. It blocks.
    func dump(_ url: String, schema: String, snapshot: String, to path: String) throws {
        let (place, environment) = access(to: url, schema)
        let version = try serverVersion(url, schema)
        try run(
            find("pg_dump", atLeast: version),
            [
                "--format=custom", "--no-owner", "--no-privileges", "--lock-wait-timeout=10000",
                "--schema=\(schema)", "--snapshot=\(snapshot)", "--file=\(path)", "--dbname=\(place)",
            ], environment)
    }

    /// Runs an archive's statements on a database, all of them or none. It blocks.
    func restore(_ path: String, of schema: String, to url: String) throws {
        let (place, environment) = access(to: url, schema)
        try run(
            find("pg_restore", atLeast: 0),
            [
                "--exit-on-error", "--single-transaction", "--no-owner", "--no-privileges", "--dbname=\(place)", path,
            ], environment)
    }

    /// Reads all of an archive, and returns the names of the tables in it. It blocks.
    func tables(in path: String) throws -> [String] {
        let program = try find("pg_restore", atLeast: 0)
        let contents = try run(program, ["--list", path])
        // This decompresses every row.
        try run(program, ["--file=/dev/null", path])
        // 224; 0 16401 TABLE DATA messenger users postgres
        return contents.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard let place = words.firstIndex(of: "TABLE"), words.dropFirst(place + 1).first == "DATA",
                words.count > place + 3
            else { return nil }
            return String(words[place + 3])
        }
    }

    // MARK: Finding

    /// Makes sure that there is a `pg_dump` that is not older than the server.
    ///
    /// - Throws: ``PostgreSQLToolError``, whose description is for the operator.
    package func requireDump(of url: String) throws {
        _ = try find("pg_dump", atLeast: try serverVersion(url, "public"))
    }

    /// Returns the path of a program that is not older than the server.
    private func find(_ name: String, atLeast version: Int) throws -> String {
        var older: (path: String, version: Int)?
        for folder in folders {
            let path = "\(folder)/\(name)"
            guard access(path, X_OK) == 0, let found = self.version(of: path) else { continue }
            if found >= version { return path }
            if found > older?.version ?? 0 { older = (path, found) }
        }
        if let older {
            throw PostgreSQLToolError(
                """
                \(older.path) is version \(older.version), older than the server's \(version): install \
                postgresql-client-\(version), or name the folder of its programs in POSTGRESQL_BIN
                """)
        }
        throw PostgreSQLToolError(
            """
            \(name) was not found: install PostgreSQL's programs (Debian: postgresql-client), or name their folder in \
            POSTGRESQL_BIN
            """)
    }

    private var folders: [String] {
        let path = (environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":").map(String.init)
        let versions = ["/usr/lib/postgresql", "/usr/pgsql"].flatMap { root in
            ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).sorted {
                $0.compare($1, options: .numeric) == .orderedDescending
            }.map { "\(root)/\($0)/bin" }
        }
        return [environment["POSTGRESQL_BIN"]].compactMap(\.self) + path + versions + ["/opt/homebrew/opt/libpq/bin"]
    }

    /// Returns the main version of a program: 15 for `pg_dump (PostgreSQL) 15.4`.
    private func version(of path: String) -> Int? {
        guard let text = try? run(path, ["--version"]),
            let number = text.split(separator: " ").first(where: {
                $0.first?.isNumber == true
            })
        else { return nil }
        return Int(number.prefix { $0.isNumber })
    }

    private func serverVersion(_ url: String, _ namespace: String) throws -> Int {
        let connection = try PostgreSQLConnection(url: url, namespace: namespace)
        return try PostgreSQLEngine.transaction(on: connection, "BEGIN READ ONLY") { session in
            let version = try session.serverVersion
            connection.endReading()
            return version ?? 0
        }
    }

    // MARK: Running

    /// Returns the URL without its password, which every user of the machine could see among the arguments, and an
    /// environment with it. The program's connections have the settings of this program's own.
    private func access(to url: String, _ schema: String) -> (place: String, environment: [String: String]) {
        let url = PostgreSQLURL(url)
        var environment = environment
        for name in PostgreSQLEnvironment.variables { environment[name] = nil }
        if let password = url.password { environment["PGPASSWORD"] = password }
        return (url.text(with: PostgreSQLSettings(namespace: schema, isPatient: true)), environment)
    }

    private func access(_ path: String, _ mode: Int32) -> Int32 { Foundation.access(path, mode) }

    /// Runs a program to its end, and returns what it wrote.
    @discardableResult
    private func run(
        _ program: String, _ arguments: [String], _ environment: [String: String]? = nil
    ) throws -> String {
        let process = BoundedProcess(
            executable: program, arguments: arguments, environment: environment ?? self.environment,
            outputLimit: Self.outputLimit, keepsErrors: true)
        let result: (ending: BoundedProcess.Ending, output: [UInt8])
        do { result = try process.runBlocking(input: nil, isCancelled: isCancelled) } catch {
            throw PostgreSQLToolError("\(program) cannot be started: \(error.reason)")
        }
        let output = String(decoding: result.output, as: UTF8.self)
        switch result.ending {
        case .exited(0): return output
        case .cancelled: throw CancellationError()
        default:
            let name = program.split(separator: "/").last.map(String.init) ?? program
            let reason = output.trimmingCharacters(in: .whitespacesAndNewlines).replacing("\n", with: " ")
            throw PostgreSQLToolError("\(name) failed: \(reason.isEmpty ? "\(result.ending)" : reason)")
        }
    }
}

/// The error for a program of PostgreSQL that is missing, too old or has failed. Its description is for the operator.
package struct PostgreSQLToolError: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
