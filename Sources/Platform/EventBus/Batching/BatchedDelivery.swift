import NIOCore

extension Hub {
    /// Delivers events in batches: a subscriber waits for its turn to send, and then receives all that has come by then. That
    /// saves cache misses, because what a subscriber needs is fetched from memory once for several events.
    package struct BatchedDelivery: Sendable {
        /// Serves subscribers in turns, between the loop's other work: calls `serve`, lets those send to which it has handed
        /// events, and calls it again later, until it has served fewer than `limit`.
        ///
        /// - Parameter serve: Hands events to `limit` subscribers at most, and returns how many those were.
        package typealias Turns =
            @Sendable (_ eventLoop: any EventLoop, _ serve: @escaping (_ limit: Int) -> Int) -> Void

        let turns: Turns
        let applies: @Sendable (Topic) -> Bool
        let join: @Sendable ([Event]) -> [Event]

        /// - Parameters:
        ///   - turns: Serves the subscribers.
        ///   - applies: Says whether a topic's events are batched. They keep their order within the topic; events of two such
        ///     topics may arrive in another order. An event of any other topic, and one of all topics, comes after all that
        ///     were published before it, and before all that are published later.
        ///   - join: Makes several events of a topic fewer, which mean the same.
        package init(
            _ turns: @escaping Turns, of applies: @escaping @Sendable (Topic) -> Bool,
            join: @escaping @Sendable ([Event]) -> [Event] = { $0 }
        ) {
            self.turns = turns
            self.applies = applies
            self.join = join
        }
    }
}
