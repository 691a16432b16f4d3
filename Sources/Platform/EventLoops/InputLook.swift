import NIOCore
import NIOPosix

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Runs an action when its event loop has looked for input.
///
/// NIO looks when no task is due, and has no way to be asked. A byte in a pipe of the loop is input, which it finds when it
/// looks. A task that is due a moment later would not do: other tasks may last longer than the moment, and it is then due
/// before NIO has looked.
final class InputLook: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private static let byte = ByteBuffer(bytes: [0])

    private var action: (() -> Void)?
    private var channel: (any Channel)?

    /// Makes the pipe on an event loop, on which this is called. ``request()`` does nothing if the process may open no other
    /// descriptor, and on the loops of tests, which look for no input.
    init(on eventLoop: any EventLoop, _ action: @escaping () -> Void) {
        self.action = action
        var ends: [CInt] = [0, 0]
        guard let bootstrap = NIOPipeBootstrap(validatingGroup: eventLoop), pipe(&ends) == 0 else { return }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let this = NIOLoopBound(self, eventLoop: eventLoop)
        let (input, output) = (ends[0], ends[1])
        bootstrap.takingOwnershipOfDescriptors(input: input, output: output).whenComplete { result in
            guard case .success(let channel) = result else {
                // They are the bootstrap's only where it succeeds.
                for end in [input, output] { _ = close(end) }
                return
            }
            guard (try? channel.pipeline.syncOperations.addHandler(this.value)) != nil else { return }
            this.value.channel = channel
        }
    }

    /// Asks for the action.
    ///
    /// - Returns: Whether it will run.
    func request() -> Bool {
        channel?.writeAndFlush(Self.byte, promise: nil)
        return channel != nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { action?() }

    func channelInactive(context: ChannelHandlerContext) { (channel, action) = (nil, nil) }
}
