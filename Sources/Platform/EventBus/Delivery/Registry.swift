import CoreMetrics
import NIOConcurrencyHelpers
import NIOCore

extension Hub {
    /// The subscribers on one event loop, and the events that wait for them. Other threads only use `delivery`.
    final class Registry: Sendable {
        private struct Publication: Sendable {
            /// The event's topic; nil stands for all of them.
            let topic: Topic?
            let event: @Sendable () -> Event
        }

        /// The parts that only the event loop uses.
        private final class Local {
            var audiences: [Topic: Audience] = [:]
            /// The turns that have not ended.
            var turns: CircularBuffer<(turn: Turn, topic: Topic)> = []
        }

        private let loop: any EventLoop
        private let box: NIOLoopBoundBox<Local?>
        private let delivery = NIOLockedValueBox(DeliveryState<Publication>())
        private let meter = Meter(label: "concord_subscriptions")
        private let onDelivered: OnDelivered
        private let batching: BatchedDelivery?

        init(_ loop: any EventLoop, _ onDelivered: @escaping OnDelivered, _ batching: BatchedDelivery?) {
            self.loop = loop
            self.onDelivered = onDelivered
            self.batching = batching
            box = .makeEmptyBox(eventLoop: loop)
        }

        private var local: Local {
            if let local = box.value { return local }
            let new = Local()
            box.value = new
            return new
        }

        // MARK: Subscribers

        func insert(_ subscriber: Member, _ topic: Topic) {
            let local = local
            let audience = local.audiences[topic] ?? Audience()
            local.audiences[topic] = audience
            guard audience.insert(subscriber) else { return }
            delivery.withLockedValue { $0.subscribe() }
            meter.increment()
        }

        func remove(_ subscriber: Member, _ topic: Topic) {
            let local = local
            guard let audience = local.audiences[topic], audience.remove(subscriber) else { return }
            if audience.members.isEmpty { local.audiences[topic] = nil }
            delivery.withLockedValue { $0.unsubscribe() }
            meter.decrement()
        }

        var hasSubscribers: Bool { delivery.withLockedValue { $0.subscriptions > 0 } }

        func ask<Answer: Sendable>(
            _ topic: Topic, _ question: @escaping @Sendable (Member) -> Answer?
        ) async throws -> [Answer] {
            try await loop.submit { self.local.audiences[topic]?.members.values.compactMap(question) ?? [] }.get()
        }

        // MARK: Deliveries

        func publish(to topic: Topic?, _ event: @escaping @Sendable () -> Event) {
            let publication = Publication(topic: topic, event: event)
            if let time = delivery.withLockedValue({ $0.publish(publication) }) { schedule(at: time) }
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
            for publication in delivery.withLockedValue({ $0.begin(at: begun) }) { deliver(publication) }
            onDelivered(loop) {
                let now = self.loop.now
                if let time = self.delivery.withLockedValue({ $0.end(at: now) }) { self.schedule(at: time) }
            }
        }

        private func deliver(_ publication: Publication) {
            let local = local
            guard let topic = publication.topic else {
                endTurns()
                for (topic, audience) in local.audiences { audience.deliver(publication.event(), on: topic) }
                return
            }
            guard let audience = local.audiences[topic] else { return }
            if let batching, batching.applies(topic) {
                guard let turn = audience.add(publication.event(), batching.join) else { return }
                local.turns.append((turn, topic))
                return batching.turns(loop) { self.serve(turn, topic, $0) }
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
