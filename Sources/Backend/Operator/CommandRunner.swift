import Database
import Foundation
import Identity
import Logging

/// Performs operators' commands in a server that runs, whichever way they come: over the socket in the data folder, or from
/// the operator's page.
struct CommandRunner: Sendable {
    let settings: ServerSettings
    /// All APIs of the program. The databases of those that do not run are opened for as long as a command takes.
    let known: [any HostedAPI]
    /// The APIs that this server serves.
    let running: [RunningAPI]
    /// The sign-ins to the operator's page; nil where the server has none.
    let sessions: OperatorSessions?
    private let secrets: SecretKeys
    private let keysInUse: KeysInUse
    private let others = CommandQueue()

    init(
        _ settings: ServerSettings, known: [any HostedAPI], running: [RunningAPI], builder: AppBuilder,
        sessions: OperatorSessions? = nil
    ) {
        self.settings = settings
        self.known = known
        self.running = running
        self.sessions = sessions
        secrets = builder.secrets
        keysInUse = builder.keysInUse
    }

    /// Performs a command, and logs that it was given.
    ///
    /// - Throws: ``OperatorError`` with the reason why it was not performed, for the operator.
    func perform(_ request: OperatorRequest, on console: some OperatorConsole) async throws(OperatorError) {
        var logger = settings.logger
        logger[metadataKey: "operation"] = "\(request.operation)"
        do {
            try await run(request, console)
            logger.info("operator's command")
        } catch let error as OperatorError {
            logger.info("operator's command", metadata: ["refused": "\(error)"])
            throw error
        } catch is CancellationError {
            logger.info("operator's command", metadata: ["refused": "interrupted"])
            throw OperatorError("The server was stopped before the command had finished")
        } catch {
            logger.warning("operator's command", metadata: ["error": "\(error)"])
            throw OperatorError("\(error)")
        }
    }

    private func run(_ request: OperatorRequest, _ console: some OperatorConsole) async throws {
        if request.api == nil, let command = ServerCommands.named(request.operation) {
            let context = ServerContext(
                source: BackupSource(settings: settings, known: known, running: running), console: console,
                audit: request.audit, sessions: sessions)
            return try await command.read(request.arguments).run(in: context)
        }
        guard let api = known.first(where: { $0.name == request.api }),
            let command = (api.operatorCommands + KeyCommands.all + PeopleCommands.all + ReportCommands.all)
                .first(where: { $0.name == request.operation })
        else {
            throw OperatorError("The running server does not know this command: it has another version of Concord.")
        }
        try await run(try command.read(request.arguments), of: api, request.audit, console)
    }

    private func run(
        _ command: any OperatorCommand, of api: any HostedAPI, _ audit: Audit, _ console: some OperatorConsole
    ) async throws {
        let served = running.first { $0.name == api.name }
        @Sendable func context(_ database: Database) -> OperatorContext {
            OperatorContext(
                api, database: database, publicURL: settings.publicURL(of: api), console: console,
                service: served?.service, secrets: secrets, keysInUse: keysInUse, audit: audit)
        }
        if let served {
            // A command that has begun is not refused because the database is busy.
            return try await QueueLimits.withoutLimit { try await command.run(in: context(served.database)) }
        }
        try await others.run {
            let files = ServerFiles(folder: settings.folder, database: settings.database, bus: settings.bus)
            try await files.open(for: type(of: command), of: api) { try await command.run(in: context($0)) }
        }
    }
}

/// Runs one command at a time on the databases that the server does not serve.
private actor CommandQueue {
    private var last: Task<Void, Never>?

    func run(_ body: @escaping @Sendable () async throws -> Void) async throws {
        let before = last
        let work = Task {
            await before?.value
            try Task.checkCancellation()
            try await body()
        }
        last = Task { _ = await work.result }
        try await withTaskCancellationHandler {
            try await work.value
        } onCancel: {
            work.cancel()
        }
    }
}
