import DirectSend
import NIOCore
import NIOPosix

/// Moves a connection to another event loop: its system socket gets a new channel there, and the old channel closes.
///
/// NIO binds a channel to its loop for life. Until the move this handler stands where the socket's handlers would; it keeps
/// what has been read, and reads no more.
final class SocketMove: ChannelInboundHandler, ChannelOutboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = Never

    /// Adds the socket's handlers to the new channel, on its event loop.
    typealias Open = @Sendable (_ channel: any Channel) throws -> Void

    private let loops: SocketLoops
    private let target: any EventLoop
    private let socket: DuplicateSocket
    private let reads: any RecvByteBufferAllocator
    private let isHalfClosable: Bool
    private let open: Open
    private let closed: EventLoopPromise<Void>
    private var received: [ByteBuffer] = []
    private var isDone = false

    /// Completes when the connection is closed.
    var end: EventLoopFuture<Void> { closed.futureResult }

    /// Prepares the move. It fails if the connection stays where it is.
    init?(of channel: any Channel, among loops: SocketLoops, open: @escaping Open) {
        guard let target = loops.place(from: channel.eventLoop), let options = channel.syncOptions,
            let reads = try? options.getOption(.recvAllocator),
            let isHalfClosable = try? options.getOption(.allowRemoteHalfClosure),
            let socket = DuplicateSocket(of: channel)
        else { return nil }
        self.loops = loops
        self.target = target
        self.socket = socket
        self.open = open
        closed = target.makePromise(of: Void.self)
        self.reads = reads
        self.isHalfClosable = isHalfClosable
        loops.begin()
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let this = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        // The handler before this one passes on what it has read, and leaves.
        context.eventLoop.execute {
            let (move, context) = this.value
            move.move(context)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { received.append(unwrapInboundIn(data)) }

    func channelReadComplete(context: ChannelHandlerContext) {}

    /// The new channel reads the rest.
    func read(context: ChannelHandlerContext) {}

    /// The new channel meets the end of the input, too, and the server's loops tell it to quiesce.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {}

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func channelInactive(context: ChannelHandlerContext) { giveUp() }

    func handlerRemoved(context: ChannelHandlerContext) { giveUp() }

    /// Ends a connection that was closed before it was moved.
    private func giveUp() {
        guard !isDone else { return }
        isDone = true
        socket.close()
        loops.remove(nil)
        closed.succeed()
    }

    private func move(_ context: ChannelHandlerContext) {
        guard !isDone else { return }
        isDone = true
        // The old channel must not read what the new one is to read.
        context.close(promise: nil)
        let (loops, open, received, closed, target) = (loops, open, received, closed, target)
        let (socket, reads, isHalfClosable) = (socket.take(), reads, isHalfClosable)
        // On the loop nothing is read between the end of the bootstrap and what follows it.
        target.execute {
            let bootstrap = ClientBootstrap(group: target).channelOption(.recvAllocator, value: reads)
                .channelOption(.allowRemoteHalfClosure, value: isHalfClosable)
            bootstrap.withConnectedSocket(socket).whenComplete { result in
                guard case .success(let channel) = result else {
                    loops.remove(nil)
                    return closed.succeed()
                }
                channel.closeFuture.whenComplete { _ in
                    loops.remove(channel)
                    closed.succeed()
                }
                do { try open(channel) } catch { return channel.close(promise: nil) }
                loops.add(channel)
                for bytes in received { channel.pipeline.fireChannelRead(bytes) }
                if !received.isEmpty { channel.pipeline.fireChannelReadComplete() }
            }
        }
    }
}
