import NIOCore
import NIOEmbedded
import Testbed
import Testing

@testable import EventBus

/// Subscribers that wait for their turn receive together what has come by then.
@Suite(.timeLimit(.minutes(30))) struct HubTurnsTests {
    /// Events are lists of numbers, which are joined to one list.
    private typealias Numbers = Hub<String, [Int]>

    private final class Inbox: Subscriber {
        var events: [[Int]] = []
        var whenReceived: (_ event: [Int], _ topic: String) -> Void = { _, _ in }

        func receive(_ event: [Int], on topic: String) {
            events.append(event)
            whenReceived(event, topic)
        }
    }

    /// A hub whose turns a test serves. The events of topics that begin with "j" are joined.
    private final class Stage {
        let loop = EmbeddedEventLoop()
        private(set) var hub: Numbers
        private(set) var turns: [(Int) -> Int] = []

        init() {
            hub = Numbers(loop)
            nonisolated(unsafe) weak var this: Stage?
            hub = Numbers(
                loop, onDelivered: { _, action in action() },
                batching: .init { _, serve in
                    nonisolated(unsafe) let turn = serve
                    this?.turns.append(turn)
                } of: {
                    $0.hasPrefix("j")
                } join: {
                    [$0.flatMap(\.self)]
                })
            this = self
        }

        func subscribe(_ inbox: Inbox, to topic: String) { hub.subscribe(inbox, to: topic, on: loop) }
        func unsubscribe(_ inbox: Inbox, from topic: String) { hub.unsubscribe(inbox, from: topic, on: loop) }

        func publish(_ event: Int, to topic: String) { hub.publish(to: topic) { [event] } }

        /// Delivers what has been published, and ends the pause after it.
        func deliver() {
            loop.run()
            loop.advanceTime(by: .seconds(1))
        }

        /// Serves some subscribers of the first turn.
        func serve(_ limit: Int) {
            guard let turn = turns.first else { return }
            let served = turn(limit)
            #expect(served <= limit)
            if served < limit { turns.removeFirst() }
        }

        func serveAll() { while !turns.isEmpty { serve(5) } }
    }

    @Test func whatComesBeforeTheTurnIsReceivedTogether() {
        let stage = Stage()
        let inbox = Inbox()
        stage.subscribe(inbox, to: "j")
        for event in 1...3 {
            stage.publish(event, to: "j")
            stage.deliver()
        }
        #expect(inbox.events.isEmpty)
        #expect(stage.turns.count == 1)
        stage.serveAll()
        #expect(inbox.events == [[1, 2, 3]])
    }

    @Test func inATurnThatHasBegunOnlyThoseWhoWaitReceiveMore() {
        let stage = Stage()
        let inboxes = (0..<4).map { _ in Inbox() }
        for inbox in inboxes { stage.subscribe(inbox, to: "j") }
        stage.publish(1, to: "j")
        stage.deliver()
        stage.serve(2)
        stage.publish(2, to: "j")
        stage.deliver()
        #expect(stage.turns.count == 2)
        stage.serve(1)
        stage.publish(3, to: "j")
        stage.deliver()
        #expect(stage.turns.count == 2)
        stage.serveAll()
        let received = inboxes.map(\.events).sorted { $0.description < $1.description }
        #expect(received == [[[1, 2, 3]], [[1, 2], [3]], [[1], [2, 3]], [[1], [2, 3]]])
    }

    @Test func anEventOfAnotherTopicEndsTheTurns() {
        let stage = Stage()
        let inboxes = (0..<3).map { _ in Inbox() }
        for inbox in inboxes { for topic in ["j1", "j2", "other"] { stage.subscribe(inbox, to: topic) } }
        stage.publish(1, to: "j1")
        stage.publish(2, to: "j2")
        stage.publish(3, to: "j1")
        stage.deliver()
        stage.serve(1)
        stage.publish(4, to: "other")
        stage.publish(5, to: "j1")
        stage.deliver()
        for inbox in inboxes { #expect(inbox.events == [[1, 3], [2], [4]]) }
        stage.serveAll()
        for inbox in inboxes { #expect(inbox.events == [[1, 3], [2], [4], [5]]) }
        // An event of all topics ends them too.
        stage.publish(6, to: "j2")
        stage.hub.broadcast { [7] }
        stage.deliver()
        for inbox in inboxes { #expect(inbox.events.dropFirst(4) == [[6], [7], [7], [7]]) }
    }

    @Test func aSubscriberThatLeavesReceivesNoMore() {
        let stage = Stage()
        let (leaver, stayer) = (Inbox(), Inbox())
        for inbox in [leaver, stayer] { stage.subscribe(inbox, to: "j") }
        stage.publish(1, to: "j")
        stage.deliver()
        stage.unsubscribe(leaver, from: "j")
        stage.serveAll()
        #expect(leaver.events.isEmpty)
        #expect(stayer.events == [[1]])
        // The last one leaves, and comes back, before the turn.
        stage.publish(2, to: "j")
        stage.deliver()
        stage.unsubscribe(stayer, from: "j")
        stage.subscribe(stayer, to: "j")
        stage.publish(3, to: "j")
        stage.deliver()
        stage.serveAll()
        #expect(stayer.events == [[1], [3]])
    }

    /// Whatever the order in which subscribers come, leave and have their turn, each receives the events of a topic in order
    /// and once: all that are published from when it subscribes until it leaves, those that it has not received by then
    /// excepted.
    @Test(arguments: 0..<300 as Range<UInt64>)
    func everySubscriberReceivesEveryEventOnceInOrder(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let stage = Stage()
        let (topics, inboxes) = (["j1", "j2", "other"], (0..<6).map { _ in Inbox() })
        /// The events of each topic that a subscriber has yet to receive; nil while it is not subscribed.
        var due = inboxes.map { _ in [String: [Int]]() }
        var last = inboxes.map { _ in [String: Int]() }
        var leavesWhenReceiving: (inbox: Int, topic: String)?

        func leave(_ inbox: Int, _ topic: String) {
            due[inbox][topic] = nil
            stage.unsubscribe(inboxes[inbox], from: topic)
        }
        for (index, inbox) in inboxes.enumerated() {
            inbox.whenReceived = { event, topic in
                for number in event {
                    #expect(number > last[index][topic] ?? 0)
                    last[index][topic] = number
                    #expect(due[index][topic] != nil)
                    // An event from before it subscribed may come as well.
                    if due[index][topic]?.first == number {
                        due[index][topic]?.removeFirst()
                    } else {
                        #expect(due[index][topic]?.contains(number) == false)
                    }
                    guard topic == "other" else { continue }
                    for joined in ["j1", "j2"] { #expect(due[index][joined]?.first ?? .max > number) }
                }
                if let (inbox, topic) = leavesWhenReceiving, due[inbox][topic] != nil {
                    leavesWhenReceiving = nil
                    leave(inbox, topic)
                }
            }
        }
        for number in 1...80 {
            let (topic, inbox) = (topics.randomElement(using: &random) ?? "", Int.random(in: 0..<6, using: &random))
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<4:
                stage.publish(number, to: topic)
                for index in due.indices { due[index][topic]?.append(number) }
            case 4, 5:
                if due[inbox][topic] == nil { due[inbox][topic] = [] }
                stage.subscribe(inboxes[inbox], to: topic)
            case 6: leave(inbox, topic)
            case 7: leavesWhenReceiving = (inbox, topic)
            case 8: stage.deliver()
            default: stage.serve(.random(in: 1...3, using: &random))
            }
        }
        leavesWhenReceiving = nil
        stage.deliver()
        stage.serveAll()
        #expect(due.allSatisfy { $0.values.allSatisfy(\.isEmpty) })
    }
}
