import CoreMetrics
import NIOConcurrencyHelpers
import NIOCore

/// Receives the events of its topics, on the event loop on which it has subscribed.
public protocol Subscriber<Topic, Event>: AnyObject {
    associatedtype Topic
    associatedtype Event
    func receive(_ event: Event, on topic: Topic)
}

/// Hands each event to every subscriber of its topic.
///
/// Subscribers are stored per event loop, so that delivery needs no lock, and the event is made once per loop, for any
/// number of subscribers. Events arrive in the order in which they were published, those of all topics together, except
/// where events are joined (``Joining``).
///
/// An event after a pause is delivered at once. While events come faster than that, each loop delivers all that have come,
/// and then pauses (``pause(after:)``): a socket then writes them in one system call, which is the greatest part of an
/// event's cost.
public final class Hub<Topic: Hashable & Sendable, Event>: Sendable {
    public typealias Member = any Subscriber<Topic, Event>

    /// Returns the time that a loop waits after a delivery, before it delivers what has come meanwhile: a fifth of the time
    /// that the delivery took, and 0.1 to 2 ms. In it the loop does its other work: without it, deliveries that follow each
    /// other would keep requests waiting.
    static func pause(after delivery: TimeAmount) -> TimeAmount {
        .nanoseconds(min(max(delivery.nanoseconds / 5, 100_000), 2_000_000))
    }

    /// Runs an action on an event loop when the subscribers there have sent what they have received, or so many of them that
    /// the loop does its other work first.
    public typealias Settle = @Sendable (_ eventLoop: any EventLoop, _ action: @escaping () -> Void) -> Void

    /// Serves subscribers in turns, between the loop's other work: calls `serve`, lets those send to which it has handed
    /// events, and calls it again later, until it has served fewer than `limit`.
    ///
    /// - Parameter serve: Hands events to `limit` subscribers at most, and returns how many those were.
    public typealias Turns =
        @Sendable (_ eventLoop: any EventLoop, _ serve: @escaping (_ limit: Int) -> Int) -> Void

    /// Lets subscribers wait for their turn to send, and then receive all that has come by then. A subscriber with several
    /// events costs little more than one with one: what it needs is fetched from memory once.
    public struct Joining: Sendable {
        let turns: Turns
        let applies: @Sendable (Topic) -> Bool
        let join: @Sendable ([Event]) -> [Event]

        /// - Parameters:
        ///   - turns: Serves the subscribers.
        ///   - applies: Says whether a topic's events are joined. They keep their order within the topic; events of two such
        ///     topics may arrive in another order. An event of any other topic, and one of all topics, comes after all that
        ///     were published before it, and before all that are published later.
        ///   - join: Makes several events of a topic fewer, which mean the same.
        public init(
            _ turns: @escaping Turns, of applies: @escaping @Sendable (Topic) -> Bool,
            join: @escaping @Sendable ([Event]) -> [Event] = { $0 }
        ) {
            self.turns = turns
            self.applies = applies
            self.join = join
        }
    }

    private let registries: [ObjectIdentifier: Registry]

    /// Makes a hub.
    ///
    /// - Parameters:
    ///   - group: The event loops of the subscribers.
    ///   - settle: By default subscribers have sent what they have received when the loop is done with its tick.
    ///   - joining: By default subscribers receive every event when it is delivered.
    public init(
        _ group: any EventLoopGroup,
        settle: @escaping Settle = { eventLoop, action in
            let action = NIOLoopBound(action, eventLoop: eventLoop)
            eventLoop.execute { action.value() }
        },
        joining: Joining? = nil
    ) {
        var registries: [ObjectIdentifier: Registry] = [:]
        for loop in group.makeIterator() { registries[ObjectIdentifier(loop)] = Registry(loop, settle, joining) }
        self.registries = registries
    }

    /// Begins delivery. A subscriber that subscribes twice to a topic still gets one copy.
    ///
    /// - Precondition: It is called on `eventLoop`, which belongs to the hub's group.
    public func subscribe(_ subscriber: Member, to topic: Topic, on eventLoop: any EventLoop) {
        registry(eventLoop).insert(subscriber, topic)
    }

    /// Ends delivery, including that of events that were published and not delivered yet.
    public func unsubscribe(_ subscriber: Member, from topic: Topic, on eventLoop: any EventLoop) {
        registry(eventLoop).remove(subscriber, topic)
    }

    /// Publishes an event. It never blocks, and may be called on any thread.
    ///
    /// - Parameter event: Makes the event. It is called at most once per event loop, and only if there is a subscriber.
    public func publish(to topic: Topic, _ event: @escaping @Sendable () -> Event) {
        for registry in registries.values { registry.publish(to: topic, event) }
    }

    /// Publishes an event to every subscriber, once for each of its topics.
    public func broadcast(_ event: @escaping @Sendable () -> Event) {
        for registry in registries.values { registry.publish(to: nil, event) }
    }

    /// Asks the subscribers of a topic, each on its event loop.
    ///
    /// - Returns: What they answer, in any order, without nils.
    public func ask<Answer: Sendable>(
        _ topic: Topic, _ question: @escaping @Sendable (Member) -> Answer?
    ) async throws -> [Answer] {
        var answers: [Answer] = []
        for registry in registries.values where registry.hasSubscribers {
            answers += try await registry.ask(topic, question)
        }
        return answers
    }

    private func registry(_ eventLoop: any EventLoop) -> Registry {
        eventLoop.preconditionInEventLoop()
        guard let registry = registries[ObjectIdentifier(eventLoop)] else {
            preconditionFailure("the event loop is not one of the hub's")
        }
        return registry
    }

    /// The subscribers on one event loop, and the events that wait for them. Other threads only use `queue`.
    private final class Registry: Sendable {
        private struct Publication: Sendable {
            /// The event's topic; nil stands for all of them.
            let topic: Topic?
            let event: @Sendable () -> Event
        }

        private struct Queue: Sendable {
            /// The number of subscriptions, so that publishing without subscribers costs nothing.
            var subscriptions = 0
            var waiting: [Publication] = []
            /// Whether a delivery has been scheduled or runs.
            var isScheduled = false
            /// The time at which the loop's pause ends.
            var pauseEnd = NIODeadline.uptimeNanoseconds(0)
        }

        /// The parts that only the event loop uses.
        private final class State {
            var table: [Topic: Audience] = [:]
            /// The turns that have not ended.
            var turns: CircularBuffer<(turn: Turn, topic: Topic)> = []
        }

        private let loop: any EventLoop
        private let state: NIOLoopBoundBox<State?>
        private let queue = NIOLockedValueBox(Queue())
        private let meter = Meter(label: "concord_subscriptions")
        private let settle: Settle
        private let joining: Joining?

        init(_ loop: any EventLoop, _ settle: @escaping Settle, _ joining: Joining?) {
            self.loop = loop
            self.settle = settle
            self.joining = joining
            state = .makeEmptyBox(eventLoop: loop)
        }

        private var local: State {
            if let state = state.value { return state }
            let new = State()
            state.value = new
            return new
        }

        func insert(_ subscriber: Member, _ topic: Topic) {
            let local = local
            let audience = local.table[topic] ?? Audience()
            local.table[topic] = audience
            guard audience.insert(subscriber) else { return }
            queue.withLockedValue { $0.subscriptions += 1 }
            meter.increment()
        }

        func remove(_ subscriber: Member, _ topic: Topic) {
            let local = local
            guard let audience = local.table[topic], audience.remove(subscriber) else { return }
            if audience.members.isEmpty { local.table[topic] = nil }
            queue.withLockedValue { $0.subscriptions -= 1 }
            meter.decrement()
        }

        var hasSubscribers: Bool { queue.withLockedValue { $0.subscriptions > 0 } }

        func ask<Answer: Sendable>(
            _ topic: Topic, _ question: @escaping @Sendable (Member) -> Answer?
        ) async throws -> [Answer] {
            try await loop.submit { self.local.table[topic]?.members.values.compactMap(question) ?? [] }.get()
        }

        func publish(to topic: Topic?, _ event: @escaping @Sendable () -> Event) {
            let time = queue.withLockedValue { queue -> NIODeadline? in
                guard queue.subscriptions > 0 else { return nil }
                queue.waiting.append(Publication(topic: topic, event: event))
                defer { queue.isScheduled = true }
                return queue.isScheduled ? nil : queue.pauseEnd
            }
            if let time { schedule(at: time) }
        }

        private func schedule(at time: NIODeadline) {
            if time <= loop.now {
                loop.execute { self.deliverAll() }
            } else {
                loop.scheduleTask(deadline: time) { self.deliverAll() }
            }
        }

        /// Delivers what waits.
        private func deliverAll() {
            let begun = loop.now
            let waiting = queue.withLockedValue { queue in
                defer { queue.waiting = [] }
                return queue.waiting
            }
            for publication in waiting { deliver(publication) }
            settle(loop) { self.pause(since: begun) }
        }

        private func pause(since begun: NIODeadline) {
            let now = loop.now
            let end = now + Hub.pause(after: now - begun)
            let isScheduled = queue.withLockedValue { queue in
                queue.pauseEnd = end
                queue.isScheduled = !queue.waiting.isEmpty
                return queue.isScheduled
            }
            if isScheduled { schedule(at: end) }
        }

        private func deliver(_ publication: Publication) {
            let local = local
            guard let topic = publication.topic else {
                endTurns()
                for (topic, audience) in local.table { audience.deliver(publication.event(), on: topic) }
                return
            }
            guard let audience = local.table[topic] else { return }
            if let joining, joining.applies(topic) {
                guard let turn = audience.add(publication.event(), joining.join) else { return }
                local.turns.append((turn, topic))
                return joining.turns(loop) { self.serve(turn, topic, $0) }
            }
            endTurns()
            audience.deliver(publication.event(), on: topic)
        }

        private func serve(_ turn: Turn, _ topic: Topic, _ limit: Int) -> Int {
            let served = turn.serve(limit, topic)
            if served < limit, local.turns.first?.turn === turn { local.turns.removeFirst() }
            return served
        }

        /// Hands out all events that wait for the subscribers' turn.
        private func endTurns() {
            while let (turn, topic) = local.turns.popFirst() { _ = turn.serve(.max, topic) }
        }
    }
}
