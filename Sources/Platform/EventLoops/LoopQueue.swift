import NIOCore

/// Work of an event loop that is done in turns.
package protocol LoopTurn: AnyObject {
    /// Does a part of the work. What is left gets a further turn when it is added to the queue again, also from within this
    /// call.
    ///
    /// - Returns: How much was done, in units of about ten microseconds: a small request, or a socket's `send`.
    func takeTurn() -> Int
}

/// The work of one event loop that could keep it from its input: pipelined requests, and sockets that have frames to send.
///
/// NIO runs tasks until none is due before it looks for input and for new connections. Work that brings more work, such as
/// the next request of a connection that pipelines them, must therefore not be a task. It waits here for its turn, and all
/// that waits has one turn after the other. After ``slice`` the loop runs its other tasks, and after ``share`` it looks for
/// input (``InputLook``) before it goes on.
///
/// What has been done counts until the loop has looked, even when nothing waits for a while: a request that is answered a
/// moment later, in the same tick, brings the next one then.
package final class LoopQueue {
    /// The units of work after which the loop runs its other tasks. A slice ends earlier when ``sliceTime`` has passed.
    static let slice = 64
    static let sliceTime = TimeAmount.microseconds(500)
    /// The units of work after which the loop looks for input: four slices, about two milliseconds.
    static let share = 256
    /// The time until the next slice where the loop cannot be asked to look for input.
    private static let moment = TimeAmount.microseconds(20)
    // The value is used on its own threads only.
    nonisolated(unsafe) private static let queues = LoopLocal<LoopQueue>()

    private let eventLoop: any EventLoop
    private var waiting = CircularBuffer<any LoopTurn>()
    private var isScheduled = false
    /// The units of work that have been done since the loop has last looked for input, as far as is known.
    private var done = 0
    private var look: InputLook?
    private var beforeLooks: [() -> Void] = []

    private init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    /// Returns the queue of the event loop on which it is called.
    package static func current(of eventLoop: any EventLoop) -> LoopQueue {
        queues.value(of: eventLoop) { LoopQueue(eventLoop) }
    }

    /// Adds work, which has one turn.
    package func add(_ work: any LoopTurn) {
        // Work that begins soon before a look, when there was none, would be cut in two by it.
        if waiting.isEmpty, !isScheduled, done > Self.share / 2 { done = Self.share }
        waiting.append(work)
        schedule()
    }

    /// Notes that the loop has just looked for input: it has received some.
    package func noteInput() { done = 0 }

    /// Runs an action each time before the loop looks for input while work waits.
    package func beforeLooks(_ action: @escaping () -> Void) { beforeLooks.append(action) }

    private func schedule() {
        guard !isScheduled else { return }
        isScheduled = true
        let this = NIOLoopBound(self, eventLoop: eventLoop)
        guard done >= Self.share else { return eventLoop.execute { this.value.runSlice() } }
        for action in beforeLooks { action() }
        let look = look ?? InputLook(on: eventLoop) { [weak self] in self?.goOn() }
        self.look = look
        if !look.request() { eventLoop.scheduleTask(in: Self.moment) { this.value.goOn() } }
    }

    /// Goes on when the loop has looked for input.
    private func goOn() {
        done = 0
        runSlice()
    }

    private func runSlice() {
        let end = eventLoop.now + Self.sliceTime
        var units = 0
        while units < Self.slice, let work = waiting.popFirst() {
            units += work.takeTurn()
            if eventLoop.now >= end { units = max(units, Self.slice) }
        }
        done += units
        isScheduled = false
        if !waiting.isEmpty { schedule() }
    }
}
