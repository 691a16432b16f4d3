import EventBus
import NIOCore
import NIOEmbedded
import NIOPosix
import Testing

private final class Inbox: Subscriber {
    private(set) var events: [String] = []
    func receive(_ event: Int, on topic: String) { events.append("\(topic) \(event)") }
}

/// Events are delivered per topic, in order, once.
@Suite(.timeLimit(.minutes(30))) struct HubTests {
    private let loop = EmbeddedEventLoop()

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
}
