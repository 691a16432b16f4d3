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
    /// How far the queues are behind, if they are.
    fileprivate static let delays = NIOLockedValueBox<[ObjectIdentifier: Duration]>([:])
    // The value is used on its own thread only.
    nonisolated(unsafe) private static let current = ThreadSpecificVariable<FlushQueue>()

    private let eventLoop: any EventLoop
    private var sockets = CircularBuffer<SocketChannelHandler>()
    private var isScheduled = false
    /// The slices since the loop has last looked for input.
    private var slices = 0
    /// The time at which the loop began to send, after it had last looked for input.
    private var begun = NIODeadline.uptimeNanoseconds(0)
    /// The time until the sockets that wait will have sent, at the pace of the last ones; nil unless they have had to wait
    /// while the loop looked for input.
    private(set) var delay: Duration? {
        didSet {
            if delay != oldValue { Self.delays.withLockedValue { $0[ObjectIdentifier(self)] = delay } }
        }
    }
    /// Made when it is first needed.
    private var look: InputLook?
    private var whenDone: [() -> Void] = []
    /// The memory in which a socket joins its frames.
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: FlushQueue.size, alignment: 16)

    private init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    deinit {
        memory.deallocate()
        if delay != nil { Self.delays.withLockedValue { $0[ObjectIdentifier(self)] = nil } }
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
        delay = Self.delay(of: sockets.count, since: begun, now: eventLoop.now)
        runActions()
        let look = self.look ?? InputLook(on: eventLoop) { [weak self] in self?.flush() }
        self.look = look
        if !look.request() { eventLoop.scheduleTask(in: Self.moment) { this.value.flush() } }
    }

    /// Returns the time until waiting sockets will have sent.
    ///
    /// - Parameter begun: The time at which the loop began to send to those after which it looks for input.
    static func delay(of waiting: Int, since begun: NIODeadline, now: NIODeadline) -> Duration {
        Duration(now - begun) * waiting / (slice * slicesBeforeInput)
    }

    private func flush() {
        isScheduled = false
        if slices == 0 { begun = eventLoop.now }
        slices += 1
        // A socket that has sent everything may be given more at once, and then joins the end of the queue.
        for _ in 0..<min(sockets.count, Self.slice) { sockets.popFirst()?.endTick() }
        guard sockets.isEmpty else { return schedule() }
        slices = 0
        delay = nil
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
    /// The time until sockets send what is published now, because others send before them. It is zero unless an event loop has
    /// so many of them that it has looked for input before all have sent.
    public static var delay: Duration { FlushQueue.delays.withLockedValue { $0.values.max() } ?? .zero }

    /// Runs an action when the sockets have sent the frames that they were given, as far as the kernel takes them, or when so
    /// many have sent that the loop does its other work first.
    ///
    /// - Precondition: It is called on the event loop.
    public static func whenDone(on eventLoop: any EventLoop, _ action: @escaping () -> Void) {
        FlushQueue.current(of: eventLoop).whenDone(action)
    }
}
