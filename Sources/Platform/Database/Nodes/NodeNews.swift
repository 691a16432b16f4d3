/// A notification by which the nodes of one database tell each other what happened.
///
/// A node numbers its batches without a hole, and its heartbeats repeat the number of the newest. So a node that
/// listens notices that a batch was lost.
struct NodeNews: Equatable {
    enum Kind: String {
        /// Announcements, in order.
        case batch
        /// A batch instead of announcements that this node cannot send: listeners read again.
        case gap
        /// The node lives. It is sent every second, and by a node that starts.
        case beat
        /// The node stops, and has announced everything.
        case end
    }

    /// The largest notification in bytes: PostgreSQL carries less than 8,000.
    static let maximumSize = 7999
    /// A character that JSON never contains as it is.
    private static let separator: Character = "\u{1E}"

    var node: String
    var kind: Kind
    /// The number of batches that the node has sent, with this one.
    var number: Int64
    var announcements: [String] = []

    var text: String { ([Self.head(kind, number, of: node)] + announcements).joined(separator: "\u{1E}") }

    private static func head(_ kind: Kind, _ number: Int64, of node: String) -> String {
        "concord 2 \(node) \(kind.rawValue) \(number)"
    }

    init(_ kind: Kind, _ number: Int64, of node: String, _ announcements: [String] = []) {
        (self.kind, self.number, self.node, self.announcements) = (kind, number, node, announcements)
    }

    /// Reads a notification; nil for that of another version.
    init?(_ text: String) {
        let parts = text.split(separator: Self.separator, omittingEmptySubsequences: false)
        let head = parts[0].split(separator: " ")
        guard head.count == 5, head[0] == "concord", head[1] == "2", let kind = Kind(rawValue: String(head[3])),
            let number = Int64(head[4])
        else { return nil }
        self.init(kind, number, of: String(head[2]), parts.dropFirst().map(String.init))
    }

    /// Packs announcements into as few batches as possible, in their order.
    ///
    /// - Parameters:
    ///   - announcements: The texts; nil stands for one that must be read instead.
    ///   - number: The number of the newest batch of the node. It becomes that of the last one that is returned.
    static func batches(of announcements: [String?], after number: inout Int64, node: String) -> [NodeNews] {
        var batches: [NodeNews] = []
        var size = 0
        for announcement in announcements {
            guard let announcement, announcement.utf8.count <= Database.maximumAnnouncement else {
                number += 1
                batches.append(NodeNews(.gap, number, of: node))
                continue
            }
            if let last = batches.last, last.kind == .batch, size + announcement.utf8.count + 1 <= maximumSize {
                batches[batches.count - 1].announcements.append(announcement)
            } else {
                number += 1
                batches.append(NodeNews(.batch, number, of: node, [announcement]))
                size = head(.batch, number, of: node).utf8.count
            }
            size += announcement.utf8.count + 1
        }
        return batches
    }
}

/// Known peers, which are the other nodes of the database, with their last sequence number.
struct NodePeers {
    /// The time without a sign of life after which a node must have a connection to the server, in seconds.
    static let silence: Double = 2
    /// The time after which a node counts as dead whatever its connections are: a pooler may keep them.
    static let longestSilence: Double = 60
    /// The time after which what a silent node that lives may have announced is read, again and again, in seconds.
    static let patience: Double = 3

    private struct Peer {
        /// The number of its newest batch; nil until it is known.
        var number: Int64?
        var heardAt: Double
        /// The time since which nothing was read because of its silence.
        var missedAt: Double?
        /// The number of its heartbeats since the current round began.
        var hasBeaten = false
    }

    enum Heard: Equatable {
        /// Nothing is new.
        case nothing
        /// Announcements in order.
        case announcements([String])
        /// Something was missed before these announcements.
        case gap([String])
    }

    private let own: String
    private var peers: [String: Peer] = [:]
    private var hasBeaten = false
    /// Whether the nodes that were there at the start are known. One that comes later begins to count at 0.
    private(set) var hasMetAll = false

    /// - Parameter own: The node that listens.
    init(own: String) { self.own = own }

    /// Adds a node that is known by its connections.
    mutating func add(_ node: String, at now: Double) {
        if node != own, peers[node] == nil { peers[node] = Peer(number: hasMetAll ? 0 : nil, heardAt: now) }
    }

    /// Notes that the nodes which are there at the start have been added.
    mutating func endMeeting() { hasMetAll = true }

    mutating func hear(_ news: NodeNews, at now: Double) -> Heard {
        guard news.node != own else {
            if news.kind == .beat { hasBeaten = true }
            return .nothing
        }
        add(news.node, at: now)
        guard var peer = peers[news.node] else { return .nothing }
        let known = peer.number
        peer.heardAt = now
        peer.missedAt = nil
        if news.kind == .beat { peer.hasBeaten = true }
        peer.number = max(known ?? 0, news.number)
        peers[news.node] = news.kind == .end ? nil : peer
        switch news.kind {
        case .beat, .end: return news.number > known ?? news.number ? .gap([]) : .nothing
        // A batch that was sent again after a lost connection may have come before.
        case .batch, .gap:
            guard news.number > known ?? 0 else { return .nothing }
            let isNext = known.map { news.number == $0 + 1 } ?? true
            return isNext && news.kind == .batch ? .announcements(news.announcements) : .gap(news.announcements)
        }
    }

    /// The nodes of which nothing was heard for a while.
    func silent(at now: Double) -> [String] {
        peers.filter { now - $0.value.heardAt > Self.silence }.map(\.key)
    }

    /// Removes the silent nodes that have died.
    ///
    /// - Parameter connected: The nodes that have connections to the server.
    /// - Returns: Whether there was one. No node announces what it had committed last.
    mutating func bury(connected: Set<String>, at now: Double) -> Bool {
        let dead = silent(at: now).filter { node in
            !connected.contains(node) || now - (peers[node]?.heardAt ?? now) > Self.longestSilence
        }
        for node in dead { peers[node] = nil }
        return !dead.isEmpty
    }

    /// Returns whether a node that lives has been silent for so long that what it may have committed must be read. It may have
    /// lost a bus that is apart from the database.
    mutating func missSome(among connected: Set<String>, at now: Double) -> Bool {
        let silent = silent(at: now).filter { node in
            guard connected.contains(node), let peer = peers[node] else { return false }
            return now - (peer.missedAt ?? peer.heardAt) > Self.patience
        }
        for node in silent { peers[node]?.missedAt = now }
        return !silent.isEmpty
    }

    /// Whether this node and every other one that announces has sent a heartbeat since this was true the last time.
    mutating func completesRound() -> Bool {
        guard hasBeaten, peers.values.allSatisfy({ $0.hasBeaten || $0.number == nil || $0.number == 0 }) else {
            return false
        }
        hasBeaten = false
        for node in peers.keys { peers[node]?.hasBeaten = false }
        return true
    }
}
