import EventLoops
import NIOCore

/// The sockets of one event loop that have frames to send. They send them when the loop has done what it is doing, so that
/// all frames that a socket was given meanwhile take one system call.
final class FlushQueue: LoopTurn {
    /// Gives frames to as many sockets as its parameter says, and returns how many those were: fewer if there are no more.
    typealias Batch = (_ limit: Int) -> Int

    /// The size of ``memory``: as much as a message may have.
    private static let size = 65_536
    // The value is used on its own threads only.
    nonisolated(unsafe) private static let queues = LoopLocal<FlushQueue>()

    private let queue: LoopQueue
    private var state = FlushState<SocketChannelHandler, Batch, () -> Void>()
    /// The memory in which a socket joins its frames.
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: FlushQueue.size, alignment: 16)

    private init(_ eventLoop: any EventLoop) {
        queue = LoopQueue.current(of: eventLoop)
        queue.beforeLooks { [weak self] in
            guard let self else { return }
            run(state.takeActions())
        }
    }

    deinit { memory.deallocate() }

    /// Returns the queue of the event loop on which it is called.
    static func current(of eventLoop: any EventLoop) -> FlushQueue {
        queues.value(of: eventLoop) { FlushQueue(eventLoop) }
    }

    /// Adds a socket, which is flushed once.
    func add(_ socket: SocketChannelHandler) {
        if state.add(socket) { queue.add(self) }
    }

    /// Adds a batch: when it is their turn, its sockets are given frames, which they send at once.
    func add(batch: @escaping Batch) {
        if state.add(batch: batch) { queue.add(self) }
    }

    /// Runs an action when all sockets that are in the queue have been flushed, or so many of them that the loop looks for
    /// input. What is sent from then on joins what the others have yet to send.
    func whenDone(_ action: @escaping () -> Void) {
        if state.wait(action) { queue.add(self) }
    }

    func takeTurn() -> Int {
        state.beginTurn()
        while true {
            switch state.next() {
            case .flush(let socket):
                socket.endTick()
            case .serve(let batch, let limit):
                let number = batch(limit)
                for socket in state.served(number) { socket.endTick() }
            case .pause(let sockets):
                queue.add(self)
                return sockets
            case .end(let sockets, let actions):
                run(actions)
                return sockets
            }
        }
    }

    private func run(_ actions: [() -> Void]) {
        for action in actions { action() }
    }
}
