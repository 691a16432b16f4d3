/// The life of a socket, from its handshake to the end of its connection.
///
/// It is a value that knows no channel, frame or timer: ``SocketChannelHandler`` tells it what happens, and does what the
/// functions return. A call that the state does not allow is an error of the handler, and ends the process.
struct SocketState {
    enum State {
        /// Messages go both ways.
        ///
        /// Valid transitions: `closing`, `answering`, `over`.
        case open
        /// The server has sent its close frame first. The peer's is awaited, and its messages are ignored.
        ///
        /// Valid transitions: `over`.
        case closing
        /// The peer has sent its close frame first. The connection ends when the answer has been sent.
        ///
        /// Valid transitions: `over`.
        case answering
        /// The connection has ended.
        case over
    }

    /// Says what the handler does with a frame.
    enum Reception: Equatable {
        case handle
        case ignore
        /// The connection is closed.
        case close
    }

    /// Says what the handler does when everything has been sent.
    enum Continuation {
        /// The actions that waited for it are run; there may be none.
        case run([() -> Void])
        /// The connection is closed.
        case close
    }

    private(set) var state = State.open
    /// The actions that wait until everything has been sent.
    private var actions: [() -> Void] = []

    var isOpen: Bool {
        if case .open = state { true } else { false }
    }

    /// Receives a frame.
    ///
    /// - Parameter isClose: Whether it is a close frame, after which the peer sends nothing.
    func receive(isClose: Bool) -> Reception {
        switch state {
        case .open: .handle
        case .closing, .answering: isClose ? .close : .ignore
        case .over: .ignore
        }
    }

    /// Begins the end from the server's side. An end that has begun goes on as it is.
    ///
    /// - Returns: Whether the close frame is to be sent.
    mutating func close() -> Bool {
        guard isOpen else { return false }
        leave(for: .closing)
        return true
    }

    /// Begins the end that the peer's close frame asks for. The answer to it is to be sent.
    mutating func answerClose() {
        guard isOpen else { preconditionFailure("Invalid state: \(state)") }
        leave(for: .answering)
    }

    /// Lets an action wait until everything has been sent. It is dropped when the end begins before.
    mutating func wait(_ action: @escaping () -> Void) {
        guard isOpen else { preconditionFailure("Invalid state: \(state)") }
        actions.append(action)
    }

    /// Notes that everything has been sent.
    mutating func sentAll() -> Continuation {
        switch state {
        case .open:
            defer { actions = [] }
            return .run(actions)
        case .answering: return .close
        case .closing, .over: return .run([])
        }
    }

    /// Notes that the connection has ended.
    ///
    /// - Returns: Whether it is the first call.
    mutating func end() -> Bool {
        if case .over = state { return false }
        leave(for: .over)
        return true
    }

    private mutating func leave(for next: State) {
        state = next
        actions = []
    }
}
