import NIOConcurrencyHelpers
public import NIOCore
import NIOPosix

/// The sockets of one event loop that have frames to send. They send them when the loop has done what it is doing, so that
/// all frames that a socket was given meanwhile take one system call.
final class FlushQueue {
    /// The number of sockets that send one after the other before the loop runs its other tasks: about half a millisecond.
    private static let slice = 64
    /// The number of slices after which the loop also looks for input and for new connections: about two milliseconds.
    private static let slicesBeforeInput = 4
    /// The time until the next slice, where the loop cannot be asked to look for input (``InputLook``).
    private static let moment = TimeAmount.microseconds(20)
    /// The size of ``memory``: as much as a message may have.
    private static let size = 65_536
    /// The number of queues that are behind.
    fileprivate static let behind = NIOLockedValueBox(0)
    // The value is used on its own thread only.
    nonisolated(unsafe) private static let current = ThreadSpecificVariable<FlushQueue>()

    private let eventLoop: any EventLoop
    private var sockets = CircularBuffer<SocketChannelHandler>()
    private var isScheduled = false
    /// The slices since the loop has last looked for input.
    private var slices = 0
    /// Whether sockets have had to wait while the loop looked for input, and some still wait.
    private(set) var isBehind = false {
        didSet { if isBehind != oldValue { Self.behind.withLockedValue { $0 += isBehind ? 1 : -1 } } }
    }
    /// Made when it is first needed.
    private var look: InputLook?
    private var whenDone: [() -> Void] = []
    /// The memory in which a socket joins its frames.
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: FlushQueue.size, alignment: 16)

    private init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    deinit {
        memory.deallocate()
        if isBehind { Self.behind.withLockedValue { $0 -= 1 } }
    }

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
        schedule()
    }

    /// Runs an action when all sockets that are in the queue have been flushed, or so many of them that the loop looks for
    /// input. What is sent from then on joins what the others have yet to send.
    func whenDone(_ action: @escaping () -> Void) {
        whenDone.append(action)
        schedule()
    }

    private func schedule() {
        guard !isScheduled else { return }
        isScheduled = true
        let this = NIOLoopBound(self, eventLoop: eventLoop)
        guard slices == Self.slicesBeforeInput else { return eventLoop.execute { this.value.flush() } }
        slices = 0
        isBehind = true
        runActions()
        let look = self.look ?? InputLook(on: eventLoop) { [weak self] in self?.flush() }
        self.look = look
        if !look.request() { eventLoop.scheduleTask(in: Self.moment) { this.value.flush() } }
    }

    private func flush() {
        isScheduled = false
        slices += 1
        // A socket that has sent everything may be given more at once, and then joins the end of the queue.
        for _ in 0..<min(sockets.count, Self.slice) { sockets.popFirst()?.endTick() }
        guard sockets.isEmpty else { return schedule() }
        slices = 0
        isBehind = false
        runActions()
    }

    private func runActions() {
        let actions = whenDone
        whenDone = []
        for action in actions { action() }
    }
}

/// The sockets of an event loop, together.
public enum SocketWrites {
    /// Whether an event loop has so many sockets that send that it has looked for input before all of them have sent. What is
    /// published meanwhile is sent later, even if it is ready now.
    public static var areBehind: Bool { FlushQueue.behind.withLockedValue { $0 > 0 } }

    /// Runs an action when the sockets have sent the frames that they were given, as far as the kernel takes them, or when so
    /// many have sent that the loop does its other work first.
    ///
    /// - Precondition: It is called on the event loop.
    public static func whenDone(on eventLoop: any EventLoop, _ action: @escaping () -> Void) {
        FlushQueue.current(of: eventLoop).whenDone(action)
    }
}
