import Foundation
import NIOConcurrencyHelpers

/// An event of a database that several nodes share.
public enum Announcement: Sendable, Hashable {
    /// A node has announced a text. The announcements of one node arrive in their order, those of several in any.
    case payload(String)
    /// Announcements may have been missed: there was no connection, one was lost on the way, or a node died that may not
    /// have announced what it had committed last. Subscribers must read again.
    case gap
    /// Every node that announces has given a sign of life since the last time. What a node had to announce at the time of
    /// the one before, it has announced.
    case round
}

/// Listens to the other nodes, on a thread of its own, for as long as the object lives.
final class NodeListener: Sendable {
    private let isStopped = NIOLockedValueBox(false)

    /// - Parameter state: Learns whether there is a connection.
    init(_ bus: NodeBus, _ state: BusState, _ handler: @escaping @Sendable (Announcement) -> Void) {
        let thread = Thread { [isStopped] in
            var pause = 0.1
            var missedAt = ContinuousClock.now
            while !isStopped.withLockedValue({ $0 }) {
                do {
                    var ear = try Ear(bus, handler)
                    pause = 0.1
                    state.note(nil, of: .receiving)
                    // This also happens at the first connection, because there may have been announcements before this
                    // node listened.
                    handler(.gap)
                    while !isStopped.withLockedValue({ $0 }) { try ear.listen() }
                } catch {
                    state.note(error, of: .receiving)
                    // Transactions go on without a bus that is apart, so what they announce must be read.
                    if bus.isApart, missedAt.duration(to: .now) > .seconds(NodePeers.patience) {
                        missedAt = .now
                        handler(.gap)
                    }
                    Thread.sleep(forTimeInterval: pause * .random(in: 0.5...1))
                    pause = min(1, pause * 2)
                }
            }
        }
        thread.name = "node listener"
        thread.start()
    }

    deinit { stop() }

    func stop() { isStopped.withLockedValue { $0 = true } }

    /// The news that a connection has heard. It belongs to the thread.
    private struct Ear {
        private let receiver: any NewsReceiver
        private let isApart: Bool
        private let handler: (Announcement) -> Void
        private var peers: NodePeers
        private var silence = 0
        private var lookedAt: Double

        init(_ bus: NodeBus, _ handler: @escaping (Announcement) -> Void) throws {
            receiver = try bus.receiver()
            isApart = bus.isApart
            self.handler = handler
            peers = NodePeers(own: bus.node.id)
            lookedAt = 0
            // It learns which nodes are there.
            try look()
        }

        private var now: Double { Double(DispatchTime.now().uptimeNanoseconds) / 1e9 }

        /// Waits for news for half a second at most, and passes them on.
        mutating func listen() throws {
            let texts = try receiver.texts(waitingMilliseconds: 500)
            for text in texts {
                guard let news = NodeNews(text) else {
                    // It comes from a node of an older version.
                    handler(.gap)
                    continue
                }
                switch peers.hear(news, at: now) {
                case .nothing: break
                case .announcements(let payloads): for payload in payloads { handler(.payload(payload)) }
                case .gap(let payloads):
                    handler(.gap)
                    for payload in payloads { handler(.payload(payload)) }
                }
            }
            if peers.completesRound() { handler(.round) }
            silence = texts.isEmpty ? silence + 1 : 0
            // A vanished server is as silent as an idle one, so it is asked.
            let hasSilentPeers = !peers.silent(at: now).isEmpty
            let isDue = isApart ? now - lookedAt > (hasSilentPeers ? 1 : NodePeers.patience) : hasSilentPeers
            if isDue || silence % 10 == 9 { try look() }
        }

        /// Compares the nodes that are known with those that have connections to the database.
        private mutating func look() throws {
            lookedAt = now
            guard let connected = try receiver.connectedNodes() else { return }
            if peers.bury(connected: connected, at: now) { handler(.gap) }
            if isApart, peers.missSome(among: connected, at: now) { handler(.gap) }
            // A node that has never been heard may have no bus that is apart.
            if isApart || !peers.hasMetAll { for node in connected { peers.add(node, at: now) } }
            peers.endMeeting()
        }
    }
}

/// Whether the bus of a node has its connections.
final class BusState: Sendable {
    enum Direction {
        case sending
        case receiving
    }

    private let failures = NIOLockedValueBox<[Direction: String]>([:])

    /// Notes an attempt to use a connection, and the error with which it failed.
    func note(_ error: (any Error)?, of direction: Direction) {
        failures.withLockedValue { $0[direction] = error.map { "\($0)" } }
    }

    /// The reason why the last attempt failed; nil when none did.
    var failure: String? { failures.withLockedValue { $0[.receiving] ?? $0[.sending] } }
}
