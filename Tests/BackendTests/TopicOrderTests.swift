import NIOConcurrencyHelpers
import Testing

@testable import Backend

/// The events of a topic are delivered in the order of their numbers, each once, or the subscribers read.
@Suite(.timeLimit(.minutes(30))) struct TopicOrderTests {
    private enum Heard: Equatable, Sendable {
        case event(Int)
        case gap(String)
    }

    /// An order, and what its subscribers hear.
    private final class Ordered: Sendable {
        let heard: NIOLockedValueBox<[Heard]>
        let order: TopicOrder<String, Int>

        init(_ beginning: TopicOrder<String, Int>.Beginning) {
            let heard = NIOLockedValueBox<[Heard]>([])
            self.heard = heard
            order = TopicOrder(beginning) { event in
                heard.withLockedValue { $0.append(.event(event)) }
            } gap: { topic in
                heard.withLockedValue { $0.append(.gap(topic)) }
            }
        }

        func take(_ numbers: Int..., of topic: String = "a") {
            for number in numbers { order.take(number, Int64(number), of: topic) }
        }

        func expect(_ expected: Heard..., sourceLocation: SourceLocation = #_sourceLocation) {
            let news = heard.withLockedValue { heard in
                defer { heard = [] }
                return heard
            }
            #expect(news == expected, sourceLocation: sourceLocation)
        }
    }

    @Test func eventsWaitForThoseBeforeThem() {
        let ordered = Ordered(.read)
        ordered.take(1, 4, 3)
        ordered.expect(.event(1))
        ordered.take(2)
        ordered.expect(.event(2), .event(3), .event(4))
        // Duplicates are left out.
        ordered.take(2, 4)
        ordered.expect()
        ordered.order.take(nil, 5, of: "a")
        ordered.take(6)
        ordered.expect(.event(6))
        ordered.take(1, of: "b")
        ordered.expect(.event(1))
    }

    @Test func anEventThatDoesNotComeIsRead() {
        for beginning in [TopicOrder<String, Int>.Beginning.read, .deliver] {
            let ordered = Ordered(beginning)
            ordered.take(1, 3, 4, 6)
            ordered.expect(.event(1))
            for _ in 0..<2 { ordered.order.completeRound() }
            ordered.expect()
            ordered.order.completeRound()
            ordered.expect(.gap("a"), .event(3), .event(4))
            // The next hole has its own time.
            for _ in 0..<2 { ordered.order.completeRound() }
            ordered.expect()
            ordered.take(5)
            ordered.expect(.event(5), .event(6))
            for _ in 0..<9 { ordered.order.completeRound() }
            ordered.expect()
        }
    }

    /// Two transactions of one node that end at almost the same time may publish in the wrong order.
    @Test func theFirstEventsOfATopicWaitForThoseThatThisNodeCommittedBefore() {
        let ordered = Ordered(.deliver)
        for number in 1...3 { ordered.order.expect(Int64(number), of: "a") }
        ordered.take(3, 2)
        ordered.expect()
        ordered.take(1)
        ordered.expect(.event(1), .event(2), .event(3))
        // In the middle, too, and those of other nodes that are late.
        for number in [7, 8] { ordered.order.expect(Int64(number), of: "b") }
        ordered.take(6, of: "b")
        ordered.expect(.event(6))
        ordered.take(8, 7, of: "b")
        ordered.expect(.event(7), .event(8))
        ordered.take(5, of: "b")
        ordered.expect(.gap("b"))
        // An expected event that does not come is waited for as any other.
        ordered.order.expect(2, of: "c")
        ordered.take(3, of: "c")
        for _ in 0..<3 { ordered.order.completeRound() }
        ordered.expect(.gap("c"), .event(3))
        // Subscribers that read need no order before they have.
        let reading = Ordered(.read)
        reading.order.expect(1, of: "a")
        reading.take(2)
        reading.expect(.gap("a"), .event(2))
    }

    @Test func aTopicThatBeginsInTheMiddleIsReadBefore() {
        let ordered = Ordered(.read)
        ordered.take(7)
        ordered.expect(.gap("a"), .event(7))
        // A subscriber that read after the gap has it.
        ordered.take(6, 8)
        ordered.expect(.event(8))
        // A subscriber that read before, and to which these were not delivered, reads again.
        #expect(!ordered.order.begin("a", at: 5))
        #expect(ordered.order.begin("a", at: 6))
        #expect(ordered.order.begin("a", at: 9))
        ordered.take(9)
        ordered.expect(.event(9))
    }

    @Test func aTopicThatBeginsInTheMiddleIsDeliveredWhereNothingIsRead() {
        let ordered = Ordered(.deliver)
        ordered.take(7)
        ordered.expect(.event(7))
        ordered.take(6)
        ordered.expect(.gap("a"))
        ordered.take(8)
        ordered.expect(.event(8))
    }

    @Test func aSubscriberThatHasReadBeginsATopic() {
        let ordered = Ordered(.read)
        #expect(ordered.order.begin("a", at: 3))
        #expect(ordered.order.begin("a", at: 4))
        // The one that read up to 3 misses nothing.
        ordered.take(5, 4)
        ordered.expect(.event(4), .event(5))
        #expect(!ordered.order.begin("a", at: 2))
    }

    @Test func everythingBeginsAnewAfterAGap() {
        let ordered = Ordered(.read)
        ordered.take(1, 4, 3)
        ordered.expect(.event(1))
        ordered.order.beginAnew {}
        ordered.expect(.event(3), .event(4))
        ordered.take(2)
        ordered.expect(.gap("a"), .event(2))
        #expect(ordered.order.begin("b", at: 3))
        ordered.expect()
    }

    @Test func topicsThatWereForgottenAreRead() {
        let ordered = Ordered(.read)
        for topic in 0..<150_010 { ordered.order.take(nil, 1, of: "\(topic)") }
        ordered.expect()
        // The first one is not known any more, and others may be subscribed to it.
        #expect(ordered.order.begin("0", at: 1))
        ordered.expect(.gap("0"))
        ordered.take(2, of: "149000")
        ordered.expect(.event(2))
    }
}
