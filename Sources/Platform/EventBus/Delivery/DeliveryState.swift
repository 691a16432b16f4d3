import NIOCore

/// Decides when an event loop delivers what has been published, and keeps what waits until then.
///
/// It is a value that knows no loop and no subscriber: the hub's registry tells it what happens, and does what the functions
/// return. A call that the state does not allow is an error of the registry, and ends the process.
struct DeliveryState<Publication: Sendable>: Sendable {
    enum State: Sendable {
        /// Nothing waits. The next event is delivered at once, or at the end of the loop's pause.
        ///
        /// Valid transitions: `scheduled`.
        case idle(pauseEnd: NIODeadline)
        /// Events wait for a delivery, whose time has been set.
        ///
        /// Valid transitions: `delivering`.
        case scheduled
        /// Subscribers have received events, and have not sent all of them. What is published meanwhile waits.
        ///
        /// Valid transitions: `idle`, `scheduled`.
        case delivering(since: NIODeadline)
    }

    private(set) var state = State.idle(pauseEnd: .uptimeNanoseconds(0))
    private var waiting: [Publication] = []
    /// The number of subscriptions: publishing without any costs nothing.
    private(set) var subscriptions = 0

    /// Returns the time that a loop waits after a delivery, before it delivers what has come meanwhile: a fifth of the time
    /// that the delivery took, and 0.1 to 2 ms. In it the loop does its other work: without it, deliveries that follow each
    /// other would keep requests waiting.
    static func pause(after delivery: TimeAmount) -> TimeAmount {
        .nanoseconds(min(max(delivery.nanoseconds / 5, 100_000), 2_000_000))
    }

    mutating func subscribe() { subscriptions += 1 }

    mutating func unsubscribe() {
        precondition(subscriptions > 0, "Invalid state: no subscription")
        subscriptions -= 1
    }

    /// Adds what is published.
    ///
    /// - Returns: The time for which a delivery is to be scheduled; nil where none is.
    mutating func publish(_ publication: Publication) -> NIODeadline? {
        guard subscriptions > 0 else { return nil }
        waiting.append(publication)
        guard case .idle(let pauseEnd) = state else { return nil }
        state = .scheduled
        return pauseEnd
    }

    /// Begins the delivery that was scheduled.
    ///
    /// - Returns: What is delivered.
    mutating func begin(at now: NIODeadline) -> [Publication] {
        guard case .scheduled = state else { preconditionFailure("Invalid state: \(state)") }
        state = .delivering(since: now)
        defer { waiting = [] }
        return waiting
    }

    /// Ends the delivery, after which the loop pauses.
    ///
    /// - Returns: The time for which the next one is to be scheduled; nil while nothing waits for it.
    mutating func end(at now: NIODeadline) -> NIODeadline? {
        guard case .delivering(let begun) = state else { preconditionFailure("Invalid state: \(state)") }
        let pauseEnd = now + Self.pause(after: now - begun)
        state = waiting.isEmpty ? .idle(pauseEnd: pauseEnd) : .scheduled
        return waiting.isEmpty ? nil : pauseEnd
    }
}
