/// Hands the events of one producer to any number of consumers. The producer runs while there are consumers.
///
/// Each consumer has a queue of its own. The producer waits between two pieces of work until every queue has room
/// (``space()``), so no event is dropped, and a consumer that takes none holds the others up.
public final class EventHub<Event: Sendable>: Sendable {
    private struct State {
        var consumers: [Int: EventConsumer<Event>.Link] = [:]
        var nextID = 0
        var producer: Task<Void, Never>?
        var end: Result<Void, any Error>?
        var produce: (@Sendable () async throws -> Void)?
    }

    private let state = Locked(State())

    /// Creates a hub. It needs ``produce(_:)`` before its first consumer.
    public init() {}

    /// Sets the producer, which adds the events.
    ///
    /// It is cancelled when the last consumer goes, and called again for the next one. When it ends by itself, so do all
    /// consumers, with its error unless that is a `CancellationError`.
    public func produce(_ produce: @escaping @Sendable () async throws -> Void) { state.use { $0.produce = produce } }

    /// Returns a new consumer, and starts the producer if this is the first one.
    ///
    /// - Parameters:
    ///   - limit: The number of waiting events from which ``space()`` waits.
    ///   - takes: Whether the consumer wants an event.
    public func consumer(
        limit: Int = 1000, where takes: @escaping @Sendable (Event) -> Bool = { _ in true }
    ) -> EventConsumer<Event> {
        let queue = EventQueue<Event>(limit: limit)
        let (id, end) = state.use { state -> (Int, Result<Void, any Error>?) in
            state.nextID += 1
            guard state.end == nil else { return (state.nextID, state.end) }
            state.consumers[state.nextID] = .init(queue: queue, takes: takes)
            if state.consumers.count == 1 { start(after: &state) }
            return (state.nextID, nil)
        }
        if let end { queue.finish(with: end) }
        return EventConsumer(queue: queue) { [weak self] in self?.leave(id) }
    }

    /// Adds an event to the queues of the consumers that want it.
    public func add(_ event: Event) {
        for consumer in state.use({ $0.consumers.values.filter { $0.takes(event) } }) { consumer.queue.add(event) }
    }

    /// Returns when every consumer has room for more events.
    public func space() async {
        for consumer in state.use({ Array($0.consumers.values) }) { await consumer.queue.space() }
    }

    /// Ends all consumers, present and future. Waiting events are still handed out.
    public func finish(throwing error: (any Error)? = nil) { end(error.map { .failure($0) } ?? .success(())) }

    private func end(_ end: Result<Void, any Error>) {
        let before = state.use { state in
            defer {
                state.end = state.end ?? end
                state.consumers = [:]
                state.producer = nil
            }
            return state
        }
        before.producer?.cancel()
        for consumer in before.consumers.values { consumer.queue.finish(with: end) }
    }

    private func start(after state: inout State) {
        let former = state.producer
        guard let produce = state.produce else { return }
        state.producer = Task { [weak self] in
            // The producer before has been cancelled and may still be closing its connection.
            await former?.value
            guard let self, !Task.isCancelled else { return }
            do {
                try await produce()
                end(.success(()))
            } catch is CancellationError {
                // The last consumer has gone; the next one starts the producer again.
                if !Task.isCancelled { end(.success(())) }
            } catch {
                end(.failure(error))
            }
        }
    }

    private func leave(_ id: Int) {
        let producer = state.use { state -> Task<Void, Never>? in
            guard state.consumers.removeValue(forKey: id) != nil, state.consumers.isEmpty else { return nil }
            return state.producer
        }
        producer?.cancel()
    }
}

/// Takes the events of an ``EventHub``, one task at a time. It leaves the hub when nothing refers to it any more, or when
/// its task is cancelled.
public final class EventConsumer<Event: Sendable>: Sendable {
    struct Link: Sendable {
        let queue: EventQueue<Event>
        let takes: @Sendable (Event) -> Bool
    }

    private let queue: EventQueue<Event>
    private let leave: @Sendable () -> Void

    init(queue: EventQueue<Event>, leave: @escaping @Sendable () -> Void) {
        self.queue = queue
        self.leave = leave
    }

    deinit {
        queue.finish()
        leave()
    }

    /// Returns the next event; nil at the end, and when the task is cancelled, which is the end.
    ///
    /// - Throws: The producer's error.
    public func next() async throws -> Event? {
        let event: Event?
        do {
            event = try await queue.next()
        } catch {
            leave()
            throw error
        }
        if event == nil { leave() }
        return event
    }
}
