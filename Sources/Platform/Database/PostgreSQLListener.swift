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

/// A connection that listens to the other nodes, on a thread of its own, for as long as the object lives.
final class PostgreSQLListener: Sendable {
    private let isStopped = NIOLockedValueBox(false)

    init(url: String, node: PostgreSQLNode, _ handler: @escaping @Sendable (Announcement) -> Void) {
        let thread = Thread { [isStopped] in
            var pause = 0.1
            while !isStopped.withLockedValue({ $0 }) {
                do {
                    let connection = try PostgreSQLConnection(url: url, namespace: node.namespace, name: node.name)
                    for kind in [NodeNews.Kind.batch, .beat] {
                        try connection.simple("LISTEN \"\(node.channel(for: kind))\"")
                    }
                    var ear = Ear(connection, node, handler)
                    try ear.meet()
                    pause = 0.1
                    // This also happens at the first connection, because there may have been announcements before this
                    // node listened.
                    handler(.gap)
                    while !isStopped.withLockedValue({ $0 }) { try ear.listen() }
                } catch {
                    Thread.sleep(forTimeInterval: pause * .random(in: 0.5...1))
                    pause = min(1, pause * 2)
                }
            }
        }
        thread.name = "postgresql listener"
        thread.start()
    }

    deinit { stop() }

    func stop() { isStopped.withLockedValue { $0 = true } }

    /// The news that a connection has heard. It belongs to the thread.
    private struct Ear {
        private let connection: PostgreSQLConnection
        private let node: PostgreSQLNode
        private let handler: (Announcement) -> Void
        private var peers: NodePeers
        private var silence = 0

        init(_ connection: PostgreSQLConnection, _ node: PostgreSQLNode, _ handler: @escaping (Announcement) -> Void) {
            (self.connection, self.node, self.handler) = (connection, node, handler)
            peers = NodePeers(own: node.id)
        }

        private var now: Double { Double(DispatchTime.now().uptimeNanoseconds) / 1e9 }

        /// Learns which nodes are there.
        mutating func meet() throws { for other in try connected() { peers.add(other, at: now) } }

        /// The nodes that have connections to the server.
        private func connected() throws -> Set<String> {
            var nodes: Set<String> = []
            let prefix = node.prefix
            try connection.query(
                """
                SELECT DISTINCT application_name FROM pg_stat_activity
                WHERE datname = current_database() AND starts_with(application_name, \(prefix))
                """
            ) { row in
                nodes.insert(String(try row.get(0, as: String.self).dropFirst(prefix.count)))
                return true
            }
            return nodes
        }

        /// Waits for notifications for half a second at most, and passes them on.
        mutating func listen() throws {
            let texts = try connection.notifications(waitingMilliseconds: 500)
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
            if !peers.silent(at: now).isEmpty || silence % 10 == 9 {
                let connected = try connected()
                if peers.bury(connected: connected, at: now) { handler(.gap) }
            }
        }
    }
}
