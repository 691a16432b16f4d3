import EventLoops
public import NIOCore

/// The sockets of one event loop that have frames to send. They send them when the loop has done what it is doing, so that
/// all frames that a socket was given meanwhile take one system call.
final class FlushQueue: LoopTurn {
    /// The number of sockets that send in one turn of the loop's queue. Those of a crowd are given frames before they send:
    /// what was read of so few is still in the processor's cache then.
    private static let group = 16
    /// The size of ``memory``: as much as a message may have.
    private static let size = 65_536
    // The value is used on its own threads only.
    nonisolated(unsafe) private static let queues = LoopLocal<FlushQueue>()

    private enum Item {
        case socket(SocketChannelHandler)
        /// Sockets that are given frames when it is their turn.
        case crowd((_ limit: Int) -> Int)
    }

    private let queue: LoopQueue
    private var items = CircularBuffer<Item>()
    /// The sockets of a crowd that have just been given frames; nil unless it is the turn of one.
    private var fresh: [SocketChannelHandler]?
    private var isQueued = false
    private var whenDone: [() -> Void] = []
    /// The memory in which a socket joins its frames.
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: FlushQueue.size, alignment: 16)

    private init(_ eventLoop: any EventLoop) {
        queue = LoopQueue.current(of: eventLoop)
        queue.beforeLooks { [weak self] in self?.runActions() }
    }

    deinit { memory.deallocate() }

    /// Returns the queue of the event loop on which it is called.
    static func current(of eventLoop: any EventLoop) -> FlushQueue {
        queues.value(of: eventLoop) { FlushQueue(eventLoop) }
    }

    /// Adds a socket, which is flushed once.
    func add(_ socket: SocketChannelHandler) {
        guard fresh == nil else {
            fresh?.append(socket)
            return
        }
        items.append(.socket(socket))
        enqueue()
    }

    /// Gives sockets frames when it is their turn, which they then send at once.
    ///
    /// - Parameter serve: Gives frames to as many sockets as its parameter says, and returns how many those were: fewer if
    ///   there are no more.
    func add(serve: @escaping (_ limit: Int) -> Int) {
        items.append(.crowd(serve))
        enqueue()
    }

    /// Runs an action when all sockets that are in the queue have been flushed, or so many of them that the loop looks for
    /// input. What is sent from then on joins what the others have yet to send.
    func whenDone(_ action: @escaping () -> Void) {
        whenDone.append(action)
        enqueue()
    }

    private func enqueue() {
        guard !isQueued else { return }
        isQueued = true
        queue.add(self)
    }

    func takeTurn() -> Int {
        // A socket that has sent everything may be given more at once, and then joins the end of the queue.
        var (sockets, before) = (0, items.count)
        while sockets < Self.group, before > 0, let item = items.popFirst() {
            switch item {
            case .socket(let socket):
                sockets += 1
                before -= 1
                socket.endTick()
            case .crowd(let serve):
                let limit = Self.group - sockets
                let served = self.serve(limit, by: serve)
                sockets += max(1, served)
                if served < limit { before -= 1 } else { items.prepend(item) }
            }
        }
        isQueued = false
        if items.isEmpty { runActions() } else { enqueue() }
        return sockets
    }

    /// Gives sockets of a crowd frames, and lets them send.
    private func serve(_ limit: Int, by serve: (Int) -> Int) -> Int {
        fresh = []
        let served = serve(limit)
        let sockets = fresh ?? []
        fresh = nil
        for socket in sockets { socket.endTick() }
        return served
    }

    private func runActions() {
        let actions = whenDone
        whenDone = []
        for action in actions { action() }
    }
}

/// The sockets of an event loop, together.
public enum SocketWrites {
    /// Runs an action when the sockets have sent the frames that they were given, as far as the kernel takes them, or when so
    /// many have sent that the loop does its other work first.
    ///
    /// - Precondition: It is called on the event loop.
    public static func whenDone(on eventLoop: any EventLoop, _ action: @escaping () -> Void) {
        FlushQueue.current(of: eventLoop).whenDone(action)
    }

    /// Gives sockets frames when it is their turn to send, so that they send at once all that there is for them by then.
    ///
    /// - Precondition: It is called on the event loop.
    /// - Parameter serve: Gives frames to as many sockets as its parameter says, and returns how many those were: fewer if
    ///   there are no more.
    public static func inTurns(on eventLoop: any EventLoop, _ serve: @escaping (_ limit: Int) -> Int) {
        FlushQueue.current(of: eventLoop).add(serve: serve)
    }
}
