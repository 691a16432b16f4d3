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
/// number of subscribers. Events arrive in the order in which they were published, those of all topics together.
///
/// An event after a pause is delivered at once. While events come faster than that, each loop delivers all that have come,
/// and then pauses (``pause(after:isJoining:)``): a socket then writes them in one system call, which is the greatest part
/// of an event's cost.
public final class Hub<Topic: Hashable & Sendable, Event>: Sendable {
    public typealias Member = any Subscriber<Topic, Event>

    /// Returns the time that a loop waits after a delivery, before it delivers what has come meanwhile: for twice as long as
    /// the delivery took, 1 to 8 ms, where it had several events of a topic, and else for a fifth of it, 0.1 to 0.8 ms.
    /// While each of many topics has few events, to wait would delay them and save nothing.
    ///
    /// - Parameter isJoining: Whether the delivery had several events of a topic.
    static func pause(after delivery: TimeAmount, isJoining: Bool) -> TimeAmount {
        let time = min(max(delivery, .microseconds(500)), .milliseconds(4)).nanoseconds
        return .nanoseconds(isJoining ? time * 2 : time / 5)
    }

    /// Runs an action on an event loop when the subscribers there have sent what they have received.
    public typealias Settle = @Sendable (_ eventLoop: any EventLoop, _ action: @escaping () -> Void) -> Void

    private let registries: [ObjectIdentifier: Registry]

    /// Makes a hub.
    ///
    /// - Parameters:
    ///   - group: The event loops of the subscribers.
    ///   - settle: By default subscribers have sent what they have received when the loop is done with its tick.
    public init(
        _ group: any EventLoopGroup,
        settle: @escaping Settle = { eventLoop, action in
            let action = NIOLoopBound(action, eventLoop: eventLoop)
            eventLoop.execute { action.value() }
        }
    ) {
        var registries: [ObjectIdentifier: Registry] = [:]
        for loop in group.makeIterator() { registries[ObjectIdentifier(loop)] = Registry(loop, settle) }
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
            var isScheduled = false
            /// The time before which the loop delivers nothing.
            var next = NIODeadline.uptimeNanoseconds(0)
        }

        private let loop: any EventLoop
        private let members: NIOLoopBoundBox<[Topic: [ObjectIdentifier: Member]]?>
        private let queue = NIOLockedValueBox(Queue())
        private let meter = Meter(label: "concord_subscriptions")
        private let settle: Settle

        init(_ loop: any EventLoop, _ settle: @escaping Settle) {
            self.loop = loop
            self.settle = settle
            members = .makeEmptyBox(eventLoop: loop)
        }

        private var table: [Topic: [ObjectIdentifier: Member]] {
            get { members.value ?? [:] }
            _modify {
                var table = members.value ?? [:]
                members.value = nil  // so that the table is changed in place
                yield &table
                members.value = table
            }
        }

        func insert(_ subscriber: Member, _ topic: Topic) {
            if table[topic, default: [:]].updateValue(subscriber, forKey: ObjectIdentifier(subscriber)) == nil {
                queue.withLockedValue { $0.subscriptions += 1 }
                meter.increment()
            }
        }

        func remove(_ subscriber: Member, _ topic: Topic) {
            guard table[topic]?.removeValue(forKey: ObjectIdentifier(subscriber)) != nil else { return }
            if table[topic]?.isEmpty == true { table[topic] = nil }
            queue.withLockedValue { $0.subscriptions -= 1 }
            meter.decrement()
        }

        var hasSubscribers: Bool { queue.withLockedValue { $0.subscriptions > 0 } }

        func ask<Answer: Sendable>(
            _ topic: Topic, _ question: @escaping @Sendable (Member) -> Answer?
        ) async throws -> [Answer] {
            try await loop.submit { self.table[topic]?.values.compactMap(question) ?? [] }.get()
        }

        func publish(to topic: Topic?, _ event: @escaping @Sendable () -> Event) {
            let time = queue.withLockedValue { queue -> NIODeadline? in
                guard queue.subscriptions > 0 else { return nil }
                queue.waiting.append(Publication(topic: topic, event: event))
                defer { queue.isScheduled = true }
                return queue.isScheduled ? nil : queue.next
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

        private func deliverAll() {
            let begun = loop.now
            let waiting = queue.withLockedValue { queue in
                defer { queue.waiting = [] }
                return queue.waiting
            }
            for publication in waiting { deliver(publication) }
            let isJoining = waiting.count > 1 && waiting.count >= 2 * Set(waiting.map(\.topic)).count
            settle(loop) { self.pause(since: begun, isJoining) }
        }

        private func pause(since begun: NIODeadline, _ isJoining: Bool) {
            let now = loop.now
            let next = now + Hub.pause(after: now - begun, isJoining: isJoining)
            let isWaiting = queue.withLockedValue { queue in
                queue.next = next
                queue.isScheduled = !queue.waiting.isEmpty
                return queue.isScheduled
            }
            if isWaiting { schedule(at: next) }
        }

        private func deliver(_ publication: Publication) {
            guard let topic = publication.topic else {
                for (topic, receivers) in table {
                    for receiver in receivers.values { receiver.receive(publication.event(), on: topic) }
                }
                return
            }
            guard let receivers = table[topic] else { return }
            let event = publication.event()
            for receiver in receivers.values { receiver.receive(event, on: topic) }
        }
    }
}
