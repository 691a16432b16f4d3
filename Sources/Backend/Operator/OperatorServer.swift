import Foundation
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
    private let commands: CommandRunner
    private let group: any EventLoopGroup
    private let socket: Int32

    /// Listens from now on, so that a command that finds the folder in use always finds the server, too.
    init(_ settings: ServerSettings, commands: CommandRunner, group: any EventLoopGroup) throws {
        self.settings = settings
        self.commands = commands
        self.group = group
        socket = try UnixSocket.listen(in: settings.folder)
    }

    func run() async throws {
        let listener = try await ServerBootstrap(group: group)
            .bind(socket) { channel in Connection.operatorFrames(on: channel).map(AcceptedConnection.init) }
        defer { unlink(settings.folder + "/" + UnixSocket.fileName) }
        await cancelWhenGracefulShutdown {
            try? await listener.executeThenClose { connections in
                await withDiscardingTaskGroup { group in
                    do {
                        for try await connection in connections {
                            group.addTask { await serve(connection.channel) }
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
        var last = OperatorFrame.done
        if let database = request.database, DatabaseLocation(database) != settings.database {
            last = .otherDatabase
        } else {
            do throws(OperatorError) {
                try await commands.perform(request, on: console)
            } catch { last = .refused(error.description) }
        }
        try? await console.outbound.write(last)
    }
}

/// A connection that is closed at the latest when nothing refers to it any more.
///
/// NIO drops a connection that arrives while the listener closes, and ends the process where a connection is dropped that
/// was not closed before.
private final class AcceptedConnection: Sendable {
    let channel: NIOAsyncChannel<OperatorFrame, OperatorFrame>

    init(_ channel: NIOAsyncChannel<OperatorFrame, OperatorFrame>) { self.channel = channel }

    deinit {
        Task { [channel] in try? await channel.executeThenClose { _, _ in } }
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
