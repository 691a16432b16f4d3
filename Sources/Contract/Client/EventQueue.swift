/// A queue of events between one producer that must not wait in the middle of its work, and one consumer.
///
/// Adding an event returns at once. Between two pieces of work the producer waits for room (``space()``), so a slow
/// consumer slows the producer down and no event is dropped.
public final class EventQueue<Event: Sendable>: Sendable {
    private struct State {
        var events: [Event] = []
        /// The number of events at the front that have been taken.
        var taken = 0
        var consumer: CheckedContinuation<Event?, any Error>?
        var waiting: [CheckedContinuation<Void, Never>] = []
        var end: Result<Void, any Error>?
    }

    private let limit: Int
    private let state = Locked(State())

    /// Creates a queue.
    ///
    /// - Parameter limit: The number of waiting events from which ``space()`` waits.
    public init(limit: Int = 1000) { self.limit = limit }

    /// Adds an event. Does nothing after the end.
    public func add(_ event: Event) {
        let consumer = state.use { state -> CheckedContinuation<Event?, any Error>? in
            guard state.end == nil else { return nil }
            if let consumer = state.consumer {
                state.consumer = nil
                return consumer
            }
            state.events.append(event)
            return nil
        }
        consumer?.resume(returning: event)
    }

    /// Returns when there is room for more events, or when the sequence has ended.
    public func space() async {
        await withCheckedContinuation { continuation in
            let goesOn = state.use { state in
                if state.end != nil || state.events.count - state.taken < limit { return true }
                state.waiting.append(continuation)
                return false
            }
            if goesOn { continuation.resume() }
        }
    }

    /// Ends the sequence. Waiting events are still handed out; then the error is thrown, or nil returned.
    public func finish(throwing error: (any Error)? = nil) {
        finish(with: error.map { .failure($0) } ?? .success(()))
    }

    func finish(with result: Result<Void, any Error>) {
        let (before, end) = state.use { state in
            let end = state.end ?? result
            defer {
                state.end = end
                state.consumer = nil
                state.waiting = []
            }
            return (state, end)
        }
        for waiting in before.waiting { waiting.resume() }
        before.consumer?.resume(with: end.map { nil })
    }

    /// Returns the next event; nil at the end, and when the task is cancelled.
    ///
    /// - Precondition: There is one caller at a time.
    public func next() async throws -> Event? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (outcome, waiting) = state.use {
                    state -> (Result<Event?, any Error>?, [CheckedContinuation<Void, Never>]) in
                    if state.taken < state.events.count {
                        let event = state.events[state.taken]
                        state.taken += 1
                        if state.taken >= 64, state.taken * 2 >= state.events.count {
                            state.events.removeFirst(state.taken)
                            state.taken = 0
                        }
                        guard state.events.count - state.taken < limit else { return (.success(event), []) }
                        defer { state.waiting = [] }
                        return (.success(event), state.waiting)
                    }
                    if let end = state.end { return (end.map { nil }, []) }
                    state.consumer = continuation
                    return (nil, [])
                }
                for waiting in waiting { waiting.resume() }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            finish()
        }
    }
}
