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
/// where they are batched (``BatchedDelivery``).
///
/// An event after a pause is delivered at once. While events come faster than that, each loop delivers all that have come,
/// and then pauses (``DeliveryState``): a socket then writes them in one system call, which is the greatest part of an
/// event's cost.
public final class Hub<Topic: Hashable & Sendable, Event>: Sendable {
    public typealias Member = any Subscriber<Topic, Event>

    /// Runs an action on an event loop when the subscribers there have sent what they have received, or so many of them that
    /// the loop does its other work first.
    package typealias OnDelivered = @Sendable (_ eventLoop: any EventLoop, _ action: @escaping () -> Void) -> Void

    private let registries: [ObjectIdentifier: Registry]

    /// Makes a hub.
    ///
    /// - Parameter group: The event loops of the subscribers, which have sent what they have received when their loop is done
    ///   with its tick.
    public convenience init(_ group: any EventLoopGroup) {
        self.init(group) { eventLoop, action in
            let action = NIOLoopBound(action, eventLoop: eventLoop)
            eventLoop.execute { action.value() }
        }
    }

    /// Makes a hub whose subscribers share what they send with.
    ///
    /// - Parameters:
    ///   - group: The event loops of the subscribers.
    ///   - onDelivered: Says when the subscribers have sent what they have received.
    ///   - batching: By default subscribers receive every event when it is delivered.
    package init(
        _ group: any EventLoopGroup, onDelivered: @escaping OnDelivered, batching: BatchedDelivery? = nil
    ) {
        var registries: [ObjectIdentifier: Registry] = [:]
        for loop in group.makeIterator() {
            registries[ObjectIdentifier(loop)] = Registry(loop, onDelivered, batching)
        }
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
}
