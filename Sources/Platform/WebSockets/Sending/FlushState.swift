import NIOCore

/// The sockets of one event loop that have frames to send, whose turn it is, and the actions that wait until all have sent.
///
/// It is a value that knows no socket and no loop: ``FlushQueue`` tells it what happens, and does what the functions return. A
/// call that the state does not allow is an error of the queue, and ends the process.
struct FlushState<Socket, Batch, Action> {
    enum State {
        /// Nothing waits.
        ///
        /// Valid transitions: `queued`.
        case idle
        /// Sockets, batches or actions wait for the turn of the loop's queue that has been asked for.
        ///
        /// Valid transitions: `sending`.
        case queued
        /// It is the queue's turn, in which `sockets` have sent. The first `items` that wait may still have theirs in it: those
        /// that have been added since it began wait for the next one.
        ///
        /// Valid transitions: `serving`, `queued`, `idle`.
        case sending(sockets: Int, items: Int)
        /// A batch gives sockets frames during the queue's turn. They send when it has done so.
        ///
        /// Valid transitions: `sending`.
        case serving(Batch, sockets: Int, items: Int)
    }

    /// Says what the queue does next in its turn.
    enum Step {
        case flush(Socket)
        /// The batch gives frames to as many sockets as the limit says.
        case serve(Batch, limit: Int)
        /// The turn ends, and the queue needs another one.
        case pause(sockets: Int)
        /// The turn ends, and everything has been sent.
        case end(sockets: Int, then: [Action])
    }

    private enum Item {
        case socket(Socket)
        case batch(Batch)
    }

    /// The number of sockets that send in one turn of the loop's queue. Those of a batch are given frames before they send:
    /// what was read of so few is still in the processor's cache then.
    static var group: Int { 16 }

    private(set) var state = State.idle
    private var items = CircularBuffer<Item>()
    /// The sockets that have been given frames by the batch whose turn it is.
    private var fresh: [Socket] = []
    private var actions: [Action] = []

    // MARK: What waits

    /// Adds a socket that has frames to send.
    ///
    /// - Returns: Whether a turn is to be asked for.
    mutating func add(_ socket: Socket) -> Bool {
        if case .serving = state {
            fresh.append(socket)
            return false
        }
        items.append(.socket(socket))
        return queue()
    }

    /// Adds a batch.
    ///
    /// - Returns: Whether a turn is to be asked for.
    mutating func add(batch: Batch) -> Bool {
        items.append(.batch(batch))
        return queue()
    }

    /// Adds an action that waits until everything has been sent.
    ///
    /// - Returns: Whether a turn is to be asked for.
    mutating func wait(_ action: Action) -> Bool {
        actions.append(action)
        return queue()
    }

    private mutating func queue() -> Bool {
        guard case .idle = state else { return false }
        state = .queued
        return true
    }

    /// Takes the actions that wait. What is added from then on joins what has yet to be sent.
    mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    // MARK: A turn

    mutating func beginTurn() {
        guard case .queued = state else { preconditionFailure("Invalid state: \(state)") }
        state = .sending(sockets: 0, items: items.count)
    }

    mutating func next() -> Step {
        guard case .sending(let sockets, let count) = state else { preconditionFailure("Invalid state: \(state)") }
        guard sockets < Self.group, count > 0 else { return endTurn(sockets) }
        switch items.removeFirst() {
        case .socket(let socket):
            state = .sending(sockets: sockets + 1, items: count - 1)
            return .flush(socket)
        case .batch(let batch):
            state = .serving(batch, sockets: sockets, items: count)
            return .serve(batch, limit: Self.group - sockets)
        }
    }

    /// Notes that a batch has given frames to so many sockets. With fewer than the limit it is done, else it goes on first.
    ///
    /// - Returns: The sockets, which send now.
    mutating func served(_ number: Int) -> [Socket] {
        guard case .serving(let batch, let sockets, let count) = state else {
            preconditionFailure("Invalid state: \(state)")
        }
        let isDone = number < Self.group - sockets
        if !isDone { items.prepend(.batch(batch)) }
        state = .sending(sockets: sockets + max(1, number), items: isDone ? count - 1 : count)
        defer { fresh = [] }
        return fresh
    }

    private mutating func endTurn(_ sockets: Int) -> Step {
        guard items.isEmpty else {
            state = .queued
            return .pause(sockets: sockets)
        }
        state = .idle
        return .end(sockets: sockets, then: takeActions())
    }
}
