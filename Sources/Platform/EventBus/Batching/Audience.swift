extension Hub {
    /// The subscribers of a topic on an event loop, and the events that they receive when it is their turn.
    final class Audience {
        private(set) var members: [ObjectIdentifier: Member] = [:]
        /// The number of subscribers that have come, and of those that have left.
        fileprivate private(set) var (arrivals, departures) = (0, 0)
        /// The turns that have not ended. Only the first may have begun.
        fileprivate var turns: [Turn] = []

        /// Adds a subscriber, unless it is one.
        func insert(_ subscriber: Member) -> Bool {
            guard members.updateValue(subscriber, forKey: ObjectIdentifier(subscriber)) == nil else { return false }
            arrivals += 1
            return true
        }

        /// Removes a subscriber, if it is one.
        func remove(_ subscriber: Member) -> Bool {
            guard members.removeValue(forKey: ObjectIdentifier(subscriber)) != nil else { return false }
            departures += 1
            return true
        }

        /// Hands an event to all subscribers at once.
        func deliver(_ event: Event, on topic: Topic) {
            let before = departures
            for (id, member) in members where departures == before || members[id] != nil {
                member.receive(event, on: topic)
            }
        }

        /// Adds an event. In a turn that has begun, those who wait receive it with what they wait for, and the others receive
        /// it in the next turn.
        ///
        /// - Parameter join: Makes several events fewer.
        /// - Returns: A turn to be served after those that exist; nil if these have the event for all subscribers.
        func add(_ event: Event, _ join: @escaping ([Event]) -> [Event]) -> Turn? {
            // A subscriber that has come since the turn began has no place in it.
            if let running = turns.first, let pass = running.pass, pass.arrivals == arrivals {
                running.add(event)
                guard pass.count > 0 else { return nil }
                return add(event, until: pass.next, to: turns.count > 1 ? turns.last : nil) {
                    Turn(self, after: pass, join)
                }
            }
            return add(event, to: turns.last.flatMap { $0.pass == nil ? $0 : nil }) { Turn(self, after: nil, join) }
        }

        /// Adds an event to a turn, or to a new one, which is returned.
        private func add(_ event: Event, until end: Place? = nil, to turn: Turn?, new: () -> Turn) -> Turn? {
            if let turn {
                turn.add(event, until: end)
                return nil
            }
            let turn = new()
            turns.append(turn)
            turn.add(event, until: end)
            return turn
        }
    }

    typealias Place = Dictionary<ObjectIdentifier, Member>.Index

    /// One pass through the subscribers of a topic, who receive what has come until it is their turn: each of them all events
    /// once, in the order in which they were published.
    final class Turn {
        /// The subscribers, and a place among them.
        fileprivate struct Pass {
            let members: [ObjectIdentifier: Member]
            let arrivals: Int
            let departures: Int
            var next: Place
            /// The number of subscribers before the place.
            var count = 0

            init(_ audience: Audience) {
                members = audience.members
                arrivals = audience.arrivals
                departures = audience.departures
                next = members.startIndex
            }

            mutating func restart() {
                next = members.startIndex
                count = 0
            }
        }

        private let audience: Audience
        private let join: ([Event]) -> [Event]
        /// Nil before the first subscriber's turn, unless the turn continues one before it.
        fileprivate var pass: Pass?
        /// The events, and the places before which subscribers receive them, in ascending order; nil stands for the end.
        private var events: [(event: Event, end: Place?)] = []
        /// The events for the subscribers that come next, joined; nil if they are to be joined again.
        private var joined: [Event]?
        private var hasEnded = false

        /// Makes a turn.
        ///
        /// - Parameter pass: Continues `pass`: delivers what arrived after its members were served.
        fileprivate init(_ audience: Audience, after pass: Pass?, _ join: @escaping ([Event]) -> [Event]) {
            self.audience = audience
            self.pass = pass
            self.pass?.restart()
            self.join = join
        }

        fileprivate func add(_ event: Event, until end: Place? = nil) {
            events.append((event, end))
            joined = nil
        }

        /// Hands their events to as many subscribers as the limit says.
        ///
        /// - Returns: The number of subscribers; less than the limit when the turn has ended.
        func serve(_ limit: Int, _ topic: Topic) -> Int {
            guard !hasEnded else { return 0 }
            var pass = self.pass ?? Pass(audience)
            let begin = pass.count
            while pass.count - begin < limit, pass.next < pass.members.endIndex {
                let joined = joined(at: pass.next)
                if joined.isEmpty { break }
                let (id, member) = pass.members[pass.next]
                pass.members.formIndex(after: &pass.next)
                pass.count += 1
                for event in joined {
                    guard audience.departures == pass.departures || audience.members[id] != nil else { break }
                    member.receive(event, on: topic)
                }
            }
            self.pass = pass
            let served = pass.count - begin
            if served < limit { end() }
            return served
        }

        /// Returns the events for the subscriber at a place.
        private func joined(at place: Place) -> [Event] {
            if let end = events.first?.end, end <= place {
                events.removeAll { $0.end.map { $0 <= place } ?? false }
                joined = nil
            }
            if let joined { return joined }
            let all = events.map(\.event)
            let joined = all.count > 1 ? join(all) : all
            self.joined = joined
            return joined
        }

        private func end() {
            hasEnded = true
            events = []
            joined = nil
            audience.turns.removeAll { $0 === self }
        }
    }
}
