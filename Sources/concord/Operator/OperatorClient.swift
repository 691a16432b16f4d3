import ArgumentParser
import Database
import Foundation
import NIOCore
import NIOPosix

/// Where a server's data is: what every command that works on it is told.
struct DatabaseOptions: ParsableArguments {
    @Option(help: "The server's data folder. [CONCORD_DATA] (default: ./data)")
    var data: String?

    @Option(
        help: ArgumentHelp(
            "Where the server's database is, when it does not run. [CONCORD_DATABASE] (default: sqlite)",
            valueName: "sqlite|postgres://…"))
    var database: String?

    func validate() throws { try Self.check(database) }

    static func check(_ database: String?) throws {
        if let database, Serve.place(database) == nil {
            throw ValidationError("--database is 'sqlite' or 'postgres://…', not '\(database)'")
        }
    }

    /// Supplies the next piece of an operation's input; nil at its end.
    typealias Input = @Sendable () throws -> [UInt8]?

    /// Does an operation: by the server that uses the data folder, or here where none runs.
    ///
    /// - Throws: ``OperationRefused``, ``DataFolder/Unusable``.
    func perform<O: Operation>(_ operation: O, input: @escaping Input = { nil }) async throws {
        let environment = Environment.process
        PrivateFiles.keepPrivate()
        let folder = try environment.value(data, "CONCORD_DATA", { $0 }, default: "./data")
        let said: String? = try environment.value(database, "CONCORD_DATABASE", Serve.place, default: nil)
        let location = DatabaseLocation(folder: folder, database: said ?? "sqlite")
        let console = TerminalConsole(input: input)
        defer { console.bar.clear() }
        func here() async throws {
            let publicURL = try environment.perAPI([], "CONCORD_PUBLIC_URL", names: Serve.names)[O.api.name]
            let port = try environment.perAPI([], "CONCORD_PORT", names: Serve.names)[O.api.name]
            let usual = Composition.apis.first { $0.name == O.api.name }?.port ?? 0
            let url = publicURL ?? "http://localhost:\(port ?? "\(usual)")"
            try await location.open(for: O.self) { database in
                try await operation.run(
                    in: .init(database: database, publicURL: url.droppingSlash, console: console))
            }
        }
        let server = OperatorClient(folder: folder, database: said)
        switch try await server.ask(for: operation, console) {
        case .done: return
        case .otherDatabase where location.isSQLite:
            throw OperationRefused(
                "The server that uses \(folder) has its data in PostgreSQL: say where with --database, or leave it out."
            )
        case .otherDatabase, .noServer: break
        }
        guard location.isSQLite else { return try await here() }
        try location.requireDatabase(for: O.self)
        // Two processes never use the files at once. A server that starts has the folder a little before its socket; another
        // command has it until it is done.
        let deadline = ContinuousClock.now + .seconds(30)
        while true {
            do {
                let owned = try DataFolder(folder)
                defer { withExtendedLifetime(owned) {} }
                return try await here()
            } catch let error as DataFolder.Unusable where error.isInUse {
                guard ContinuousClock.now < deadline else { throw error }
            }
            try await Task.sleep(for: .milliseconds(100))
            if case .done = try await server.ask(for: operation, console) { return }
        }
    }
}

extension Environment {
    /// A flag's value, else the variable's, else nil.
    fileprivate func value<T>(
        _ flag: T?, _ variable: String, _ read: (String) -> T?, default: T?
    ) throws -> T? {
        if flag == nil, (variables[variable] ?? "").isEmpty { return nil }
        guard let fallback = flag ?? variables[variable].flatMap(read) else {
            throw ValidationError("\(variable) has no valid value: \(variables[variable] ?? "")")
        }
        return fallback
    }
}

extension String {
    var droppingSlash: String { hasSuffix("/") ? String(dropLast()) : self }
}

/// A folder, and where the databases that belong to it are.
struct DatabaseLocation: Sendable {
    let folder: String
    /// `sqlite`, or where PostgreSQL is.
    let database: String

    var isSQLite: Bool { database == "sqlite" }

    private func file(of api: OperatedAPI) -> String { "\(folder)/\(api.name).sqlite" }

    /// - Throws: ``OperationRefused`` when there is none and the operation makes none.
    func requireDatabase<O: Operation>(for _: O.Type) throws {
        guard O.makesDatabase || FileManager.default.fileExists(atPath: file(of: O.api)) else {
            throw OperationRefused(
                "\(folder) has no \(O.api.title) database: is it the server's data folder (--data)?")
        }
    }

    /// Opens the database that an operation works on, and closes it at the end. The caller owns the folder.
    func open<O: Operation>(for type: O.Type, _ body: (Database) async throws -> Void) async throws {
        let opened: Database
        if isSQLite {
            try requireDatabase(for: type)
            opened = try .sqlite(path: file(of: O.api), schema: O.api.schema, readers: 2)
        } else {
            opened = try .postgreSQL(url: database, schema: O.api.schema, connections: 2)
        }
        let result: Result<Void, any Error>
        do { result = .success(try await body(opened)) } catch { result = .failure(error) }
        try await opened.close()
        try result.get()
    }
}

/// Asks the server that uses a data folder.
struct OperatorClient: Sendable {
    let folder: String
    /// Where the command was told that the database is.
    let database: String?

    enum Outcome: Sendable {
        case done
        /// Nobody answers: the operation was not done.
        case noServer
        /// The server's data is elsewhere: the operation was not done.
        case otherDatabase
    }

    /// - Throws: ``OperationRefused``, in the server's words.
    func ask(for operation: some Operation, _ console: some OperationConsole) async throws -> Outcome {
        guard let socket = try UnixSocket.connect(in: folder) else { return .noServer }
        let request = OperatorRequest(
            operation: type(of: operation).name, arguments: try JSONEncoder().encode(operation), database: database)
        let connection = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .withConnectedSocket(socket) { channel in
                NIOAsyncChannel<OperatorFrame, OperatorFrame>.operatorFrames(on: channel)
            }
        do {
            return try await connection.executeThenClose { frames, outbound in
                try await outbound.write(.request(request))
                for try await frame in frames {
                    switch frame {
                    case .output(let bytes): try await console.write(bytes)
                    case .progress(let done, let total): try await console.show(done, of: total)
                    case .more:
                        if let piece = try await console.read() {
                            try await outbound.write(.input(piece))
                        } else {
                            try await outbound.write(.endOfInput)
                        }
                    case .done: return .done
                    case .otherDatabase: return .otherDatabase
                    case .refused(let words): throw OperationRefused(words)
                    case .request, .input, .endOfInput: throw UnreadableFrame()
                    }
                }
                throw OperationRefused("The server ended before it had answered")
            }
        } catch  where error is IOError || error is ChannelError {
            throw OperationRefused("The server ended before it had answered")
        }
    }
}

/// The terminal that the command was given on.
struct TerminalConsole: OperationConsole {
    let input: DatabaseOptions.Input
    let bar = ProgressBar()

    func write(_ bytes: [UInt8]) async throws {
        bar.clear()
        try FileHandle.standardOutput.write(contentsOf: bytes)
    }

    func show(_ done: Int, of total: Int) async throws { bar.show(done, of: total) }
    func read() async throws -> [UInt8]? { try input() }
}
