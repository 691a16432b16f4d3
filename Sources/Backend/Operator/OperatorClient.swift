import Database
import Foundation
import Identity
import NIOCore
import NIOPosix

/// Performs operators' commands: through the server that uses a data folder, or in this process when no server runs.
public struct OperatorClient: Sendable {
    private let folder: String
    private let database: String?
    private let bus: AnnouncementBus
    private let secrets: SecretKeys
    private let actor: String

    /// - Parameters:
    ///   - folder: The server's data folder.
    ///   - database: The location of the database, as the operator has given it: `sqlite` or a PostgreSQL URL. When it
    ///     is nil, it is the server's own database, or SQLite when no server runs.
    ///   - bus: The way by which nodes that share the database tell each other what happened.
    ///   - environment: The environment variables of the process, which may contain keys.
    public init(
        folder: String, database: String?, bus: AnnouncementBus = .postgreSQL, environment: [String: String]
    ) {
        self.folder = folder
        self.database = database
        self.bus = bus
        secrets = SecretKeys(folder: folder, environment: environment)
        actor = OperatorName.ofThisProcess(environment)
    }

    private enum Outcome: Sendable {
        case done
        /// No server runs, so the command was not performed.
        case noServer
        /// The server uses another database, so the command was not performed.
        case otherDatabase
    }

    /// Performs a command.
    ///
    /// - Parameters:
    ///   - publicURL: The URL by which clients reach the API, for commands that this process performs itself.
    ///   - console: The operator's terminal.
    /// - Throws: ``OperatorError`` and other errors whose descriptions are for the operator.
    public func perform(
        _ command: some OperatorCommand, on api: any HostedAPI, publicURL: String, console: some OperatorConsole
    ) async throws {
        guard let location = DatabaseLocation(database ?? "sqlite") else {
            throw OperatorError("a database is 'sqlite' or 'postgres://…', not '\(database ?? "")'")
        }
        let files = ServerFiles(folder: folder, database: location, bus: bus)
        let url = publicURL.hasSuffix("/") ? String(publicURL.dropLast()) : publicURL
        func here() async throws {
            try await files.open(for: type(of: command), of: api) {
                try await command.run(
                    in: .init(
                        api, database: $0, publicURL: url, console: console, secrets: secrets,
                        audit: Audit(actor: actor, action: type(of: command).name)))
            }
        }
        switch try await ask(for: command, of: api, console) {
        case .done: return
        case .otherDatabase where location == .sqlite:
            throw OperatorError(
                "The server that uses \(folder) keeps its data in PostgreSQL: give its URL with --database, or leave the option out."
            )
        case .otherDatabase, .noServer: break
        }
        // It is of the whole process, and not needed where the server performs the command.
        PrivateFiles.keepPrivate()
        guard location == .sqlite else { return try await here() }
        try files.requireDatabase(for: type(of: command), of: api)
        try await owning(here) { try await ask(for: command, of: api, console) }
    }

    /// Performs a command for the whole server.
    ///
    /// - Parameters:
    ///   - settings: The settings with which this process performs the command when no server runs.
    ///   - known: All APIs of the program.
    public func perform(
        _ command: some ServerCommand, _ settings: ServerSettings, known: [any HostedAPI],
        console: some OperatorConsole
    ) async throws {
        func ask() async throws -> Outcome {
            try await self.ask(for: type(of: command).name, of: nil, try JSONEncoder().encode(command), console)
        }
        switch try await ask() {
        case .done: return
        case .otherDatabase:
            throw OperatorError(
                "The server that uses \(folder) uses another database than --database says: leave the option out")
        case .noServer: break
        }
        PrivateFiles.keepPrivate()
        guard FileManager.default.fileExists(atPath: folder) else {
            throw OperatorError("There is no folder \(folder): is it the server's data folder (--data)?")
        }
        let source = BackupSource(settings: settings, known: known, running: [])
        let audit = Audit(actor: actor, action: type(of: command).name)
        try await owning(
            { try await command.run(in: .init(source: source, console: console, audit: audit)) }, asking: ask)
    }

    /// Performs a command that only a server that runs can perform.
    ///
    /// - Returns: False when no server uses the data folder.
    /// - Throws: ``OperatorError`` with the server's message.
    public func ask(_ command: some ServerCommand, console: some OperatorConsole) async throws -> Bool {
        switch try await ask(for: type(of: command).name, of: nil, try JSONEncoder().encode(command), console) {
        case .done: true
        case .noServer: false
        case .otherDatabase:
            throw OperatorError("The server that uses \(folder) uses another database than --database says")
        }
    }

    /// Runs a closure while this process has the data folder, or asks the server that has it.
    private func owning(_ here: () async throws -> Void, asking ask: () async throws -> Outcome) async throws {
        // Two processes must never use the files at the same time. A server that starts holds the folder a little
        // before its socket exists, and another command holds the folder until it has finished.
        let deadline = ContinuousClock.now + .seconds(30)
        while true {
            do {
                let owned = try DataFolder(folder)
                defer { owned.giveToOwner() }
                return try await here()
            } catch let error as DataFolder.Unusable where error.isInUse {
                guard ContinuousClock.now < deadline else { throw error }
            }
            try await Task.sleep(for: .milliseconds(100))
            if case .done = try await ask() { return }
        }
    }

    /// Asks the server that uses the data folder to perform a command.
    ///
    /// - Throws: ``OperatorError`` with the server's message.
    private func ask(
        for command: some OperatorCommand, of api: any HostedAPI, _ console: some OperatorConsole
    ) async throws -> Outcome {
        try await ask(for: type(of: command).name, of: api.name, try JSONEncoder().encode(command), console)
    }

    private func ask(
        for name: String, of api: String?, _ arguments: Data, _ console: some OperatorConsole
    ) async throws -> Outcome {
        guard let socket = try UnixSocket.connect(in: folder) else { return .noServer }
        let request = OperatorRequest(operation: name, api: api, arguments: arguments, database: database, actor: actor)
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
                    case .refused(let message): throw OperatorError(message)
                    case .request, .input, .endOfInput: throw UnreadableFrame()
                    }
                }
                throw OperatorError("The server stopped before it had answered")
            }
        } catch  where error is IOError || error is ChannelError {
            throw OperatorError("The server stopped before it had answered")
        }
    }
}
