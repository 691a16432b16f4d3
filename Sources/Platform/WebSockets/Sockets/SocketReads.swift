/// The reads of a socket: after one with many frames, it waits for its turn in the loop's queue before it reads again.
struct SocketReads {
    enum State {
        /// The channel reads when it wants to.
        ///
        /// Valid transitions: `waiting`.
        case ready
        /// The socket waits for its turn. `isWithheld` is true once the channel has wanted to read.
        ///
        /// Valid transitions: `ready`.
        case waiting(isWithheld: Bool)
    }

    /// The number of frames in one read up to which the next one does not wait.
    private static let framesAtOnce = 8

    private var state = State.ready
    /// The number of frames in the current read, or in the one that the socket's turn is for.
    private var frames = 0

    mutating func receiveFrame() { frames += 1 }

    /// Ends a read.
    ///
    /// - Returns: Whether a turn is to be asked for.
    mutating func complete() -> Bool {
        guard case .ready = state else { return false }
        if frames <= Self.framesAtOnce {
            frames = 0
            return false
        }
        state = .waiting(isWithheld: false)
        return true
    }

    /// Returns whether a read that the channel wants is made now. Otherwise it is made when the socket has its turn.
    mutating func want() -> Bool {
        guard case .waiting = state else { return true }
        state = .waiting(isWithheld: true)
        return false
    }

    /// Begins the socket's turn.
    ///
    /// - Returns: The number of frames that the turn is for, and whether a read was withheld until now.
    mutating func takeTurn() -> (frames: Int, isWithheld: Bool) {
        guard case .waiting(let isWithheld) = state else { preconditionFailure("Invalid state: \(state)") }
        defer { (state, frames) = (.ready, 0) }
        return (frames, isWithheld)
    }
}
