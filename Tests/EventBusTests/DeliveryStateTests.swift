import NIOCore
import Testbed
import Testing

@testable import EventBus

/// Compares what a call that changes a value returns.
private func same<Value: Equatable>(_ value: Value, _ expected: Value, line: SourceLocation = #_sourceLocation) {
    #expect(value == expected, sourceLocation: line)
}

/// The state of a loop's deliveries, driven by random events without a loop, beside a model of it.
@Suite(.timeLimit(.minutes(30))) struct DeliveryStateTests {
    /// The state and its model, which counts what was published and delivered, and notes times.
    private struct Pair {
        var random: SeededGenerator
        var state = DeliveryState<Int>()
        var now = NIODeadline.uptimeNanoseconds(1)
        var subscriptions = 0
        var published = 0
        var delivered = 0
        var pauseEnd = NIODeadline.uptimeNanoseconds(0)
        /// The time of the delivery that has been asked for.
        var due: NIODeadline?
        /// The time at which the delivery began that has not ended.
        var begun: NIODeadline?

        /// Makes one of the events that can happen now.
        mutating func step() {
            now = now + .microseconds(Int64.random(in: 0...2000, using: &random))
            var events: [(inout Pair) -> Void] = [{ $0.publish() }, { $0.publish() }, { $0.subscribe() }]
            if subscriptions > 0 { events.append { $0.unsubscribe() } }
            if let due, due <= now { events += [{ $0.begin() }, { $0.begin() }] }
            if begun != nil { events.append { $0.end() } }
            events.randomElement(using: &random)?(&self)
            #expect(state.subscriptions == subscriptions)
        }

        mutating func subscribe() {
            state.subscribe()
            subscriptions += 1
        }

        mutating func unsubscribe() {
            state.unsubscribe()
            subscriptions -= 1
        }

        mutating func publish() {
            let time = state.publish(published)
            guard subscriptions > 0 else { return same(time, nil) }
            published += 1
            same(time, due == nil && begun == nil ? pauseEnd : nil)
            if let time { due = time }
        }

        mutating func begin() {
            same(state.begin(at: now), Array(delivered..<published))
            (delivered, due, begun) = (published, nil, now)
        }

        mutating func end() {
            guard let begun else { return }
            let fifth = (now - begun).nanoseconds / 5
            pauseEnd = now + .nanoseconds(fifth < 100_000 ? 100_000 : fifth > 2_000_000 ? 2_000_000 : fifth)
            let next = published > delivered ? pauseEnd : nil
            same(state.end(at: now), next)
            (due, self.begun) = (next, nil)
        }
    }

    @Test(arguments: 1...300 as ClosedRange<UInt64>)
    func randomEventsDoWhatTheModelDoes(seed: UInt64) {
        var pair = Pair(random: SeededGenerator(seed: seed))
        for _ in 0..<200 { pair.step() }
        // What was published is delivered, whatever else happens.
        if pair.begun != nil { pair.end() }
        if pair.due != nil { pair.begin() }
        #expect(pair.delivered == pair.published)
    }

    /// A loop that has delivered for long does more other work before it delivers again.
    @Test(arguments: [(0, 100), (499, 100), (900, 180), (4000, 800), (90_000, 2000)] as [(Int64, Int64)])
    func aPauseGrowsWithTheDelivery(_ delivery: Int64, _ pause: Int64) {
        #expect(DeliveryState<Int>.pause(after: .microseconds(delivery)) == .microseconds(pause))
    }

    /// What cannot be is an error of the registry, and ends the process.
    @Test func anInvalidCallEndsTheProcess() async {
        await #expect(processExitsWith: .failure) {
            var state = DeliveryState<Int>()
            _ = state.begin(at: .now())
        }
        await #expect(processExitsWith: .failure) {
            var state = DeliveryState<Int>()
            state.subscribe()
            _ = state.publish(1)
            _ = state.end(at: .now())
        }
    }
}
