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
/// Subscribers are stored per event loop, so that delivery needs no lock. Publishing is one `execute` per loop, and the
/// event is made once per loop, for any number of subscribers. Events of one topic arrive in the order in which they
/// were published.
public final class Hub<Topic: Hashable & Sendable, Event>: Sendable {
    public typealias Member = any Subscriber<Topic, Event>

    private let registries: [ObjectIdentifier: Registry]

    public init(_ group: any EventLoopGroup) {
        var registries: [ObjectIdentifier: Registry] = [:]
        for loop in group.makeIterator() { registries[ObjectIdentifier(loop)] = Registry(loop) }
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
        for registry in registries.values { registry.broadcast(event) }
    }

    private func registry(_ eventLoop: any EventLoop) -> Registry {
        eventLoop.preconditionInEventLoop()
        guard let registry = registries[ObjectIdentifier(eventLoop)] else {
            preconditionFailure("the event loop is not one of the hub's")
        }
        return registry
    }

    /// The subscribers on one event loop. Other threads only read `subscriptions`.
    private final class Registry: Sendable {
        private let loop: any EventLoop
        private let members: NIOLoopBoundBox<[Topic: [ObjectIdentifier: Member]]?>
        /// The number of subscriptions, so that publishing without subscribers costs nothing.
        private let subscriptions = NIOLockedValueBox(0)

        init(_ loop: any EventLoop) {
            self.loop = loop
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
                subscriptions.withLockedValue { $0 += 1 }
            }
        }

        func remove(_ subscriber: Member, _ topic: Topic) {
            guard table[topic]?.removeValue(forKey: ObjectIdentifier(subscriber)) != nil else { return }
            if table[topic]?.isEmpty == true { table[topic] = nil }
            subscriptions.withLockedValue { $0 -= 1 }
        }

        func broadcast(_ event: @escaping @Sendable () -> Event) {
            guard subscriptions.withLockedValue({ $0 > 0 }) else { return }
            loop.execute {
                for (topic, receivers) in self.table {
                    for receiver in receivers.values { receiver.receive(event(), on: topic) }
                }
            }
        }

        func publish(to topic: Topic, _ event: @escaping @Sendable () -> Event) {
            guard subscriptions.withLockedValue({ $0 > 0 }) else { return }
            loop.execute {
                guard let receivers = self.table[topic] else { return }
                let event = event()
                for receiver in receivers.values { receiver.receive(event, on: topic) }
            }
        }
    }
}
