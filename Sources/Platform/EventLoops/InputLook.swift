import NIOCore
import NIOPosix

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Lets an event loop look for input, and then runs an action.
///
/// NIO looks for input when no task is due, and cannot be asked to look. So a byte is written to a pipe of the loop, and the
/// action runs when NIO reads it. A task that is due a moment later would not do: where other tasks last longer than that
/// moment, it is due before NIO has looked.
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
