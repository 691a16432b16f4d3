import NIOCore
import NIOEmbedded
import NIOPosix
import Testing

@testable import EventBus

private final class Inbox: Subscriber {
    fileprivate(set) var events: [String] = []
    func receive(_ event: Int, on topic: String) { events.append("\(topic) \(event)") }
}

/// Events are delivered per topic, in order, once.
@Suite(.timeLimit(.minutes(30))) struct HubTests {
    private let loop = EmbeddedEventLoop()
    private let pause = DeliveryState<Int>.pause(after: .zero)

    private func publish(_ event: Int, to topic: String, _ hub: Hub<String, Int>) {
        hub.publish(to: topic) { event }
    }

    @Test func deliversToItsTopicInOrder() {
        let hub = Hub<String, Int>(loop)
        let (first, second) = (Inbox(), Inbox())
        hub.subscribe(first, to: "a", on: loop)
        hub.subscribe(second, to: "b", on: loop)
        for event in 1...3 { publish(event, to: "a", hub) }
        publish(9, to: "b", hub)
        loop.run()
        #expect(first.events == ["a 1", "a 2", "a 3"])
        #expect(second.events == ["b 9"])
    }

    @Test func aSubscriberSubscribedTwiceGetsOneCopy() {
        let hub = Hub<String, Int>(loop)
        let inbox = Inbox()
        hub.subscribe(inbox, to: "a", on: loop)
        hub.subscribe(inbox, to: "a", on: loop)
        publish(1, to: "a", hub)
        loop.run()
        #expect(inbox.events == ["a 1"])
        hub.unsubscribe(inbox, from: "a", on: loop)
        publish(2, to: "a", hub)
        loop.run()
        #expect(inbox.events == ["a 1"])
    }

    @Test func eventsInFlightAreNotDeliveredAfterUnsubscribing() {
        let hub = Hub<String, Int>(loop)
        let (leaver, stayer) = (Inbox(), Inbox())
        hub.subscribe(leaver, to: "a", on: loop)
        hub.subscribe(stayer, to: "a", on: loop)
        publish(1, to: "a", hub)
        hub.unsubscribe(leaver, from: "a", on: loop)
        loop.run()
        #expect(leaver.events.isEmpty)
        #expect(stayer.events == ["a 1"])
    }

    @Test func withoutSubscribersNoEventIsMade() {
        let hub = Hub<String, Int>(loop)
        let inbox = Inbox()
        hub.subscribe(inbox, to: "other", on: loop)
        hub.publish(to: "a") {
            Issue.record("made for nobody")
            return 1
        }
        loop.run()
        #expect(inbox.events.isEmpty)
    }

    @Test func theFirstEventIsDeliveredAtOnceAndLaterOnesTogether() {
        let hub = Hub<String, Int>(loop)
        let inbox = Inbox()
        hub.subscribe(inbox, to: "a", on: loop)
        publish(1, to: "a", hub)
        loop.run()
        #expect(inbox.events == ["a 1"])
        for event in 2...4 { publish(event, to: "a", hub) }
        loop.run()
        #expect(inbox.events == ["a 1"])
        loop.advanceTime(by: pause)
        #expect(inbox.events == ["a 1", "a 2", "a 3", "a 4"])
        // After a pause the next event is a first one again.
        loop.advanceTime(by: pause)
        publish(5, to: "a", hub)
        loop.run()
        #expect(inbox.events.last == "a 5")
    }

    @Test func whatComesDuringAPauseIsDeliveredAtItsEnd() {
        nonisolated(unsafe) var sent: [() -> Void] = []
        let hub = Hub<String, Int>(loop) { _, action in sent.append(action) }
        let inbox = Inbox()
        hub.subscribe(inbox, to: "a", on: loop)
        publish(1, to: "a", hub)
        loop.run()
        loop.advanceTime(by: .milliseconds(4))
        sent.removeFirst()()
        for event in 2...4 { publish(event, to: "a", hub) }
        loop.advanceTime(by: .microseconds(799))
        #expect(inbox.events == ["a 1"])
        loop.advanceTime(by: .microseconds(1))
        #expect(inbox.events == ["a 1", "a 2", "a 3", "a 4"])
    }

    /// The pause after a delivery begins when subscribers say that they have sent what they received.
    @Test func aPauseBeginsWhenItsEventsHaveBeenSent() {
        nonisolated(unsafe) var sent: [() -> Void] = []
        let hub = Hub<String, Int>(loop) { _, action in sent.append(action) }
        let inbox = Inbox()
        hub.subscribe(inbox, to: "a", on: loop)
        publish(1, to: "a", hub)
        loop.run()
        publish(2, to: "a", hub)
        loop.advanceTime(by: .seconds(1))
        #expect(inbox.events == ["a 1"])
        sent.removeFirst()()
        loop.run()
        #expect(inbox.events == ["a 1"])
        loop.advanceTime(by: DeliveryState<Int>.pause(after: .seconds(1)))
        #expect(inbox.events == ["a 1", "a 2"])
    }

    @Test func eventsOfAllTopicsKeepTheirOrder() {
        let hub = Hub<String, Int>(loop)
        let inbox = Inbox()
        for topic in ["a", "b"] { hub.subscribe(inbox, to: topic, on: loop) }
        publish(1, to: "a", hub)
        loop.run()
        publish(2, to: "b", hub)
        publish(3, to: "a", hub)
        hub.broadcast { 4 }
        publish(5, to: "b", hub)
        loop.advanceTime(by: pause)
        #expect(inbox.events.prefix(3) == ["a 1", "b 2", "a 3"])
        #expect(Set(inbox.events[3...4]) == ["a 4", "b 4"])
        #expect(inbox.events.last == "b 5")
    }

    /// Events that are published while others are delivered are neither lost nor early.
    @Test func eventsPublishedDuringADeliveryFollow() {
        let hub = Hub<String, Int>(loop)
        let inbox = Answering(hub)
        hub.subscribe(inbox, to: "a", on: loop)
        publish(1, to: "a", hub)
        loop.run()
        #expect(inbox.events == [1])
        loop.advanceTime(by: pause)
        #expect(inbox.events == [1, 2])
        loop.advanceTime(by: pause)
        #expect(inbox.events == [1, 2, 3])
    }
}

/// The same from many threads.
@Suite(.timeLimit(.minutes(30))) struct HubThreadTests {
    /// Each thread's events arrive in its order, on real event loops.
    @Test func everyEventOfManyThreadsArrivesOnceInOrder() async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let hub = Hub<Int, Int>(group)
        let count = 2000
        let loops = Array(group.makeIterator()).prefix(2)
        let inboxes = try await loops.asyncMap { loop in
            try await loop.submit {
                let inbox = NIOLoopBound(Threads(expecting: 4 * count, on: loop), eventLoop: loop)
                for thread in 0..<4 { hub.subscribe(inbox.value, to: thread, on: loop) }
                return inbox
            }.get()
        }
        await withTaskGroup(of: Void.self) { threads in
            for thread in 0..<4 {
                threads.addTask { for event in 0..<count { hub.publish(to: thread) { event } } }
            }
        }
        for (loop, inbox) in zip(loops, inboxes) {
            let events = try await loop.flatSubmit { inbox.value.complete.futureResult }.get()
            for thread in 0..<4 { #expect(events[thread] == Array(0..<count)) }
        }
    }
}

/// Publishes the next event when it receives one, up to 3.
private final class Answering: Subscriber {
    private let hub: Hub<String, Int>
    private(set) var events: [Int] = []

    init(_ hub: Hub<String, Int>) { self.hub = hub }

    func receive(_ event: Int, on topic: String) {
        events.append(event)
        if event < 3 { hub.publish(to: topic) { event + 1 } }
    }
}

/// Collects the events of each thread.
private final class Threads: Subscriber {
    let complete: EventLoopPromise<[Int: [Int]]>
    private var events: [Int: [Int]] = [:]
    private var missing: Int

    init(expecting count: Int, on loop: any EventLoop) {
        missing = count
        complete = loop.makePromise()
    }

    func receive(_ event: Int, on topic: Int) {
        events[topic, default: []].append(event)
        missing -= 1
        if missing == 0 { complete.succeed(events) }
    }
}

extension Sequence {
    fileprivate func asyncMap<Value>(_ transform: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}
