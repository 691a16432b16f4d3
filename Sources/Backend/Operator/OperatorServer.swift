import Database
import Foundation
import Identity
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// Performs the commands that operators' processes send over the socket in the data folder.
///
/// So only the server uses the files of a data folder while it runs, and no command needs the server to be stopped.
struct OperatorServer: Service {
    private typealias Connection = NIOAsyncChannel<OperatorFrame, OperatorFrame>

    private let settings: ServerSettings
    private let known: [any HostedAPI]
    private let running: [RunningAPI]
    private let databases: [String: Database]
    private let services: [String: any HostedService]
    private let secrets: SecretKeys
    private let keysInUse: KeysInUse
    private let others: CommandQueue
    private let group: any EventLoopGroup
    private let socket: Int32

    /// Listens from now on, so that a command that finds the folder in use always finds the server, too.
    ///
    /// - Parameters:
    ///   - known: The APIs that commands may be for. The databases of those that do not run are opened for as long as a
    ///     command takes.
    ///   - running: The APIs that this server serves.
    init(
        _ settings: ServerSettings, known: [any HostedAPI], running: [RunningAPI], builder: AppBuilder
    ) throws {
        self.settings = settings
        self.known = known
        self.running = running
        group = builder.group
        secrets = builder.secrets
        keysInUse = builder.keysInUse
        services = Dictionary(uniqueKeysWithValues: running.map { ($0.name, $0.service) })
        databases = Dictionary(uniqueKeysWithValues: running.map { ($0.name, $0.database) })
        others = CommandQueue()
        socket = try UnixSocket.listen(in: settings.folder)
    }

    func run() async throws {
        let listener = try await ServerBootstrap(group: group)
            .bind(socket) { channel in Connection.operatorFrames(on: channel) }
        defer { unlink(settings.folder + "/" + UnixSocket.fileName) }
        await cancelWhenGracefulShutdown {
            try? await listener.executeThenClose { connections in
                await withDiscardingTaskGroup { group in
                    do {
                        for try await connection in connections {
                            group.addTask { await serve(connection) }
                        }
                    } catch is CancellationError {
                        // The server stops.
                    } catch {
                        settings.logger.warning("the operator's socket failed", metadata: ["error": "\(error)"])
                    }
                    group.cancelAll()
                }
            }
        }
        // A service that ends would end the others.
        try await gracefulShutdown()
    }

    /// Serves one request. It is cancelled when the operator's process has gone.
    private func serve(_ connection: Connection) async {
        try? await connection.executeThenClose { frames, outbound in
            await withTaskGroup(of: Void.self) { group in
                let (input, continuation) = AsyncStream<[UInt8]>.makeStream()
                do {
                    for try await frame in frames {
                        switch frame {
                        case .request(let request):
                            group.addTask { await answer(request, SocketConsole(outbound: outbound, input: input)) }
                        case .input(let bytes): continuation.yield(bytes)
                        default: continuation.finish()
                        }
                    }
                } catch {
                    settings.logger.debug("an operator's connection failed", metadata: ["error": "\(error)"])
                }
                continuation.finish()
                group.cancelAll()
            }
        }
    }

    private func answer(_ request: OperatorRequest, _ console: SocketConsole) async {
        var logger = settings.logger
        logger[metadataKey: "operation"] = "\(request.operation)"
        var last = OperatorFrame.done
        do {
            if let database = request.database, DatabaseLocation(database) != settings.database {
                last = .otherDatabase
            } else if request.api == nil, let command = ServerCommands.named(request.operation) {
                let context = ServerContext(
                    source: BackupSource(settings: settings, known: known, running: running), console: console,
                    audit: request.audit)
                try await command.read(request.arguments).run(in: context)
                logger.info("operator's command")
            } else if let (api, command) = command(of: request) {
                try await run(try command.read(request.arguments), of: api, request.audit, console)
                logger.info("operator's command")
            } else {
                last = .refused(
                    "The running server does not know this command: it has another version of Concord.")
            }
        } catch let error as OperatorError {
            logger.info("operator's command", metadata: ["refused": "\(error)"])
            last = .refused(error.description)
        } catch is CancellationError {
            logger.info("operator's command", metadata: ["refused": "interrupted"])
            last = .refused("The server was stopped before the command had finished")
        } catch {
            logger.warning("operator's command", metadata: ["error": "\(error)"])
            last = .refused("\(error)")
        }
        try? await console.outbound.write(last)
    }

    private func command(of request: OperatorRequest) -> (any HostedAPI, any OperatorCommand.Type)? {
        guard let api = known.first(where: { $0.name == request.api }),
            let command = (api.operatorCommands + KeyCommands.all + PeopleCommands.all + ReportCommands.all).first(
                where: {
                    $0.name == request.operation
                })
        else { return nil }
        return (api, command)
    }

    private func run(
        _ command: any OperatorCommand, of api: any HostedAPI, _ audit: Audit, _ console: SocketConsole
    ) async throws {
        @Sendable func context(_ database: Database) -> OperatorContext {
            OperatorContext(
                api, database: database, publicURL: settings.publicURL(of: api), console: console,
                service: services[api.name], secrets: secrets, keysInUse: keysInUse, audit: audit)
        }
        if let database = databases[api.name] {
            // A command that has begun is not refused because the database is busy.
            return try await QueueLimits.withoutLimit { try await command.run(in: context(database)) }
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

private struct SocketConsole: OperatorConsole {
    let outbound: NIOAsyncChannelOutboundWriter<OperatorFrame>
    let input: AsyncStream<[UInt8]>

    func write(_ bytes: [UInt8]) async throws {
        for start in stride(from: 0, to: bytes.count, by: OperatorFrame.maximumLength) {
            let end = min(start + OperatorFrame.maximumLength, bytes.count)
            try await outbound.write(.output(Array(bytes[start..<end])))
        }
    }

    func show(_ done: Int, of total: Int) async throws { try await outbound.write(.progress(done: done, total: total)) }

    /// Asks the operator's process for a piece of input, so that at most one piece waits in memory.
    func read() async throws -> [UInt8]? {
        try await outbound.write(.more)
        var pieces = input.makeAsyncIterator()
        let piece = await pieces.next()
        try Task.checkCancellation()
        return piece
    }
}
