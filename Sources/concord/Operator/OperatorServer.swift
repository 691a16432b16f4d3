import Database
import Foundation
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// Does what commands ask for, over the socket in the data folder.
///
/// So nothing but the server touches the files of a data folder that is in use, and no command needs it stopped.
struct OperatorServer: Service {
    private typealias Connection = NIOAsyncChannel<OperatorFrame, OperatorFrame>

    private let composition: Composition
    private let databases: [String: Database]
    private let strangers: Strangers
    private let socket: Int32

    /// Listens from now on, so that no command finds the folder in use and nobody to ask.
    ///
    /// - Parameter hosted: The APIs that this server serves. The databases of others in the same folder are opened for as
    ///   long as an operation takes.
    init(_ composition: Composition, _ hosted: [Hosted]) throws {
        self.composition = composition
        databases = Dictionary(uniqueKeysWithValues: hosted.map { ($0.name, $0.database) })
        strangers = Strangers()
        socket = try UnixSocket.listen(in: composition.folder)
    }

    func run() async throws {
        let listener = try await ServerBootstrap(group: composition.group)
            .bind(socket) { channel in Connection.operatorFrames(on: channel) }
        defer { unlink(composition.folder + "/" + UnixSocket.fileName) }
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
                        composition.logger.warning("the operator's socket failed", metadata: ["error": "\(error)"])
                    }
                    group.cancelAll()
                }
            }
        }
        // A service that ends would end the others.
        try await gracefulShutdown()
    }

    /// One request. It is cancelled when the command is gone.
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
                    composition.logger.debug("an operator's connection failed", metadata: ["error": "\(error)"])
                }
                continuation.finish()
                group.cancelAll()
            }
        }
    }

    private func answer(_ request: OperatorRequest, _ console: SocketConsole) async {
        var logger = composition.logger
        logger[metadataKey: "operation"] = "\(request.operation)"
        var last = OperatorFrame.done
        do {
            if let database = request.database, database != composition.database {
                last = .otherDatabase
            } else if let operation = try Operations.read(request.operation, request.arguments) {
                try await run(operation, console)
                logger.info("operator")
            } else {
                last = .refused(
                    "The server that runs does not know this command: it is of another version of Concord.")
            }
        } catch let refusal as OperationRefused {
            logger.info("operator", metadata: ["refused": "\(refusal)"])
            last = .refused(refusal.description)
        } catch is CancellationError {
            logger.info("operator", metadata: ["refused": "interrupted"])
            last = .refused("The server was stopped before this was done")
        } catch {
            logger.warning("operator", metadata: ["error": "\(error)"])
            last = .refused("\(error)")
        }
        try? await console.outbound.write(last)
    }

    private func run(_ operation: some Operation, _ console: SocketConsole) async throws {
        let api = type(of: operation).api
        @Sendable func context(_ database: Database) -> OperationContext {
            OperationContext(database: database, publicURL: composition.publicURL(api.name), console: console)
        }
        if let database = databases[api.name] {
            // What an operator has begun is not given up because users are many.
            return try await Waiting.asLongAsItTakes { try await operation.run(in: context(database)) }
        }
        try await strangers.inTurn {
            let options = DatabaseLocation(folder: composition.folder, database: composition.database)
            try await options.open(for: type(of: operation)) { try await operation.run(in: context($0)) }
        }
    }
}

/// One operation at a time on databases that the server does not serve.
private actor Strangers {
    private var last: Task<Void, Never>?

    func inTurn(_ body: @escaping @Sendable () async throws -> Void) async throws {
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

private struct SocketConsole: OperationConsole {
    let outbound: NIOAsyncChannelOutboundWriter<OperatorFrame>
    let input: AsyncStream<[UInt8]>

    func write(_ bytes: [UInt8]) async throws {
        for start in stride(from: 0, to: bytes.count, by: OperatorFrame.maximumLength) {
            let end = min(start + OperatorFrame.maximumLength, bytes.count)
            try await outbound.write(.output(Array(bytes[start..<end])))
        }
    }

    func show(_ done: Int, of total: Int) async throws { try await outbound.write(.progress(done: done, total: total)) }

    /// The command sends a piece when it is asked for one: no more than one waits in memory.
    func read() async throws -> [UInt8]? {
        try await outbound.write(.more)
        var pieces = input.makeAsyncIterator()
        let piece = await pieces.next()
        try Task.checkCancellation()
        return piece
    }
}
