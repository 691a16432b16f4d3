import NIOCore
import NIOPosix

/// The sockets of one event loop that have frames to send. They send them when the loop has done what it is doing, so that
/// all frames that a socket was given meanwhile take one system call.
final class FlushQueue {
    /// The size of ``memory``: as much as a message may have.
    private static let size = 65_536
    // The value is used on its own thread only.
    nonisolated(unsafe) private static let current = ThreadSpecificVariable<FlushQueue>()

    private let eventLoop: any EventLoop
    private var sockets: [SocketChannelHandler] = []
    /// The memory in which a socket joins its frames.
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: FlushQueue.size, alignment: 16)

    private init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    deinit { memory.deallocate() }

    /// Returns the queue of the event loop on which it is called.
    static func current(of eventLoop: any EventLoop) -> FlushQueue {
        eventLoop.preconditionInEventLoop()
        if let queue = current.currentValue, queue.eventLoop === eventLoop { return queue }
        // Event loops without a thread of their own exist in tests.
        let queue = FlushQueue(eventLoop)
        current.currentValue = queue
        return queue
    }

    /// Adds a socket, which is flushed once.
    func add(_ socket: SocketChannelHandler) {
        sockets.append(socket)
        guard sockets.count == 1 else { return }
        let this = NIOLoopBound(self, eventLoop: eventLoop)
        eventLoop.execute { this.value.flush() }
    }

    private func flush() {
        // A socket that has sent everything may be given more at once, and then joins the next round.
        let sockets = sockets
        self.sockets.removeAll(keepingCapacity: true)
        for socket in sockets { socket.endTick() }
    }
}
