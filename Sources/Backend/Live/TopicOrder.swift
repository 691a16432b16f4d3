import NIOConcurrencyHelpers

/// Puts the events of each topic into the order of their numbers, which have no holes: those of this node, and those
/// that others announce, in whatever order they arrive.
///
/// An event waits for those before it. When one of them does not come, it was lost with its announcement or with its
/// node, and what it said must be read.
final class TopicOrder<Topic: Hashable & Sendable, Event: Sendable>: Sendable {
    /// What to do with the first event of a topic of which nothing is known. One before it may still arrive.
    enum Beginning: Sendable {
        /// The subscribers read what was before it. Then nothing is missed, and what arrives late is left out.
        case read
        /// It is delivered, behind those that this node has committed before it (``expect(_:of:)``). When one arrives
        /// late, the subscribers begin anew.
        case deliver
    }

    /// The number of topics that are known, at least: those whose events are the newest.
    private static var capacity: Int { 50_000 }
    /// The number of rounds for which an event waits for those before it.
    private static var patience: Int { 2 }

    private struct State {
        /// The number of the newest event that was delivered, or that subscribers have read.
        var last: Int64
        /// Events up to this number are dropped: a read has covered them.
        var covered: Int64
        /// Whether `last` is where the numbers are expected to go on, and none has come yet.
        var isExpected = false
        var waiting: [Int64: Event?] = [:]
        /// The number of rounds that have gone by since the first of these arrived.
        var rounds = 0
    }

    private struct Topics {
        var recent: [Topic: State] = [:]
        var older: [Topic: State] = [:]
        /// The topics whose events wait.
        var waiting: Set<Topic> = []
        /// Whether a topic without a state may have one that was dropped.
        var haveForgotten = false

        /// Changes the state of a topic, or makes one.
        mutating func update<Result>(_ topic: Topic, _ body: (inout State?) -> Result) -> Result {
            var state = recent[topic] ?? older.removeValue(forKey: topic)
            let result = body(&state)
            recent[topic] = state
            if state?.waiting.isEmpty == false {
                waiting.insert(topic)
            } else if !waiting.isEmpty {
                waiting.remove(topic)
            }
            if recent.count > TopicOrder.capacity, waiting.isEmpty {
                haveForgotten = haveForgotten || !older.isEmpty
                older = recent
                recent = [:]
            }
            return result
        }
    }

    private let beginning: Beginning
    private let deliver: @Sendable (Event) -> Void
    private let gap: @Sendable (Topic) -> Void
    private let topics = NIOLockedValueBox(Topics())

    /// - Parameters:
    ///   - deliver: Called with each event, in order. It must not block.
    ///   - gap: Called before an event when earlier ones of its topic may have been missed.
    init(
        _ beginning: Beginning, deliver: @escaping @Sendable (Event) -> Void,
        gap: @escaping @Sendable (Topic) -> Void
    ) {
        (self.beginning, self.deliver, self.gap) = (beginning, deliver, gap)
    }

    /// Notes that a transaction of this node announces an event when it has been committed.
    ///
    /// It is called while the transaction holds the lock of the topic. Two that end at almost the same time may say so in
    /// the wrong order: the second then waits for the first, which has been here before it.
    func expect(_ number: Int64, of topic: Topic) {
        guard beginning == .deliver else { return }
        topics.withLockedValue { topics in
            topics.update(topic) { state in
                if state == nil { state = State(last: number - 1, covered: number - 1, isExpected: true) }
            }
        }
    }

    /// Takes an event, which is delivered when those before it have been.
    ///
    /// - Parameter event: The event; nil when there is nothing to deliver under its number.
    func take(_ event: Event?, _ number: Int64, of topic: Topic) {
        topics.withLockedValue { topics in
            topics.update(topic) { state in
                guard var known = state else {
                    if beginning == .read, number > 1 { gap(topic) }
                    if let event { deliver(event) }
                    state = State(last: number, covered: number - 1)
                    return
                }
                // Another node has committed this one before.
                if known.isExpected, number <= known.last {
                    (known.last, known.covered) = (number - 1, number - 1)
                }
                if number == known.last + 1 {
                    known.last = number
                    known.isExpected = false
                    if let event { deliver(event) }
                    deliverNext(&known)
                } else if number > known.last {
                    if known.waiting.isEmpty { known.rounds = 0 }
                    known.waiting[number] = .some(event)
                } else if beginning == .deliver, number <= known.covered {
                    gap(topic)
                }
                state = known
            }
        }
    }

    /// Notes that a subscriber of a topic has read what its events up to a number say, and that it has been subscribed
    /// since before.
    ///
    /// - Returns: Whether that is enough: all later events have been delivered to it or will be. Otherwise it must read
    ///   again.
    func begin(_ topic: Topic, at number: Int64) -> Bool {
        topics.withLockedValue { topics in
            let haveForgotten = topics.haveForgotten
            return topics.update(topic) { state in
                if let state { return number >= state.covered }
                // Others may be subscribed that have not read as much.
                if haveForgotten { gap(topic) }
                state = State(last: number, covered: number)
                return true
            }
        }
    }

    /// Forgets what was delivered, because all subscribers read what there is.
    ///
    /// - Parameter gap: Lets them read. It blocks new events, or a later one would hide the missed ones.
    func beginAnew(_ gap: () -> Void) {
        topics.withLockedValue { topics in
            gap()
            for topic in topics.waiting {
                guard let state = topics.recent[topic] ?? topics.older[topic] else { continue }
                for (_, event) in state.waiting.sorted(by: { $0.key < $1.key }) { if let event { deliver(event) } }
            }
            topics = Topics()
        }
    }

    /// Ends the wait for events that have not come although every node that lives has had time to announce them.
    func completeRound() {
        topics.withLockedValue { topics in
            for topic in topics.waiting {
                topics.update(topic) { state in
                    state?.rounds += 1
                    guard var known = state, known.rounds > Self.patience, let next = known.waiting.keys.min() else {
                        return
                    }
                    gap(topic)
                    known.last = next - 1
                    known.covered = known.last
                    known.isExpected = false
                    deliverNext(&known)
                    state = known
                }
            }
        }
    }

    private func deliverNext(_ state: inout State) {
        while let event = state.waiting.removeValue(forKey: state.last + 1) {
            state.last += 1
            if let event { deliver(event) }
        }
        state.rounds = 0
    }
}
