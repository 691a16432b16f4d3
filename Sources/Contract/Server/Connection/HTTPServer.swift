public import Contract
import EventLoops
public import HummingbirdCore
public import Logging
public import NIOCore

/// Serves HTTP/1 on the connections that a listening channel accepts.
///
/// Each connection has one handler, a ``ConnectionGuard``, which starts a task for each request on the connection's event
/// loop.
public struct HTTPServer: ServerChildChannel {
    /// One request on its connection.
    struct Call: Sendable {
        let request: ReceivedRequest
        let peer: Peer
        let connection: ConnectionReference
    }

    typealias Responder = nonisolated(nonsending) @Sendable (Call) async throws -> Reply

    private let responder: Responder
    private let executors: LoopExecutors
    private let guarding: @Sendable () -> ConnectionGuard

    /// The most bytes of answers that the kernel keeps unsent for a connection.
    private static let unsent = 262_144
    /// The sizes of reads. A connection keeps the buffer of its first one for as long as it lives, so this has room for a
    /// usual request and no more; a connection that receives much soon reads 64 KiB at a time.
    private static let reads = AdaptiveRecvByteBufferAllocator(minimum: 256, initial: 512, maximum: 65_536)

    /// Makes a server whose requests a router answers.
    ///
    /// - Parameters:
    ///   - group: The event loops on which connections are accepted.
    ///   - guarding: Makes the handler of a connection.
    public init<API: ServiceAPI>(
        _ router: Router<API>, group: any EventLoopGroup, guarding: @escaping @Sendable () -> ConnectionGuard
    ) {
        self.init(group: group, guarding: guarding) { call in
            await router.reply(to: call.request, peer: call.peer, from: call.connection)
        }
    }

    init(
        group: any EventLoopGroup, guarding: @escaping @Sendable () -> ConnectionGuard,
        responder: @escaping Responder
    ) {
        executors = LoopExecutors(group)
        self.guarding = guarding
        self.responder = responder
    }

    /// A connection.
    public struct Connection: ServerChildChannelValue {
        public let channel: any Channel
        fileprivate let handler: NIOLoopBound<RequestHandler>
        fileprivate let ended: EventLoopFuture<Void>
    }

    public func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Connection> {
        channel.eventLoop.makeCompletedFuture {
            let ended = channel.eventLoop.makePromise(of: Void.self)
            let connection = guarding()
            let handler = RequestHandler(
                responder, executors.executor(of: channel.eventLoop), on: connection, of: channel, ended: ended)
            connection.requests = handler
            do {
                try channel.syncOptions?.setOption(.recvAllocator, value: Self.reads)
                // Other connections have their turn after each read.
                try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
                channel.limitUnsentBytes(to: Self.unsent)
                try channel.pipeline.syncOperations.addHandler(connection)
            } catch {
                ended.fail(error)
                throw error
            }
            return Connection(
                channel: channel, handler: NIOLoopBound(handler, eventLoop: channel.eventLoop),
                ended: ended.futureResult)
        }
    }

    /// Waits until a connection is closed, or is no longer HTTP. When it is cancelled, so is the request.
    public func handle(value connection: Connection, logger: Logger) async {
        await withTaskCancellationHandler {
            try? await connection.ended.get()
        } onCancel: {
            connection.channel.eventLoop.execute { connection.handler.value.cancel() }
        }
    }
}
