import Redis

/// The way by which the nodes of a database tell each other what happened.
public enum AnnouncementBus: Sendable, Equatable {
    /// LISTEN and NOTIFY of the database itself.
    case postgreSQL
    /// PUBLISH and SUBSCRIBE of a Redis beside it.
    case redis(RedisServer)
}

/// A connection by which a node tells the others what happened. It belongs to one thread, which it blocks.
protocol NewsSender: AnyObject {
    /// Whether it must be replaced.
    var isBroken: Bool { get }
    /// Sends news, in order.
    func send(_ news: [NodeNews]) throws
}

/// A connection by which a node hears what the others tell. It belongs to one thread, which it blocks.
protocol NewsReceiver: AnyObject {
    /// Returns what has arrived, after waiting for it for at most the given time.
    func texts(waitingMilliseconds timeout: Int32) throws -> [String]
    /// Returns the nodes that have connections to the database; nil when that cannot be said now.
    func connectedNodes() throws -> Set<String>?
}

/// The bus of one node.
struct NodeBus: Sendable {
    /// The URL of the database itself, without a pooler.
    let url: String
    let node: PostgreSQLNode
    /// The Redis; nil where the database is the bus.
    private let redis: (server: RedisServer, channel: String)?

    /// - Parameter connection: A connection to the database, which tells databases that share a Redis apart.
    /// - Throws: ``BusMismatch`` when other nodes have another bus.
    init(_ kind: AnnouncementBus, _ node: PostgreSQLNode, at url: String, _ connection: PostgreSQLConnection) throws {
        self.url = url
        self.node = node
        if case .redis(let server) = kind {
            let identity = try connection.databaseIdentity()
            redis = (server, "concord:\(server.database):\(identity):\(node.namespace)")
        } else {
            redis = nil
        }
        guard try connection.nodes(named: node.otherPrefix).isEmpty else {
            throw BusMismatch(
                """
                The nodes that use the database of \(node.namespace) tell each other what happens by \
                \(node.isOnRedis ? "LISTEN and NOTIFY (--bus postgres)" : "a Redis (--bus redis://…)"), and this one \
                would not hear them: give it the same --bus or CONCORD_BUS. To change the bus, stop every node first.
                """)
        }
    }

    /// Whether the bus may be away while the database is there.
    var isApart: Bool { redis != nil }

    /// The bus in a few words for the operator.
    var description: String { redis.map { "\($0.server)" } ?? "PostgreSQL" }

    /// Connects to the database itself, under the name of the node.
    func connectToDatabase() throws -> PostgreSQLConnection {
        try PostgreSQLConnection(url: url, namespace: node.namespace, name: node.name)
    }

    func sender() throws -> any NewsSender {
        guard let redis else { return try PostgreSQLNewsSender(self) }
        return try RedisNewsSender(redis.server, redis.channel)
    }

    func receiver() throws -> any NewsReceiver {
        guard let redis else { return try PostgreSQLNewsReceiver(self) }
        return try RedisNewsReceiver(self, redis.server, redis.channel)
    }
}

/// The error for a node with another bus than the nodes that run. Its description is for the operator.
public struct BusMismatch: Error, CustomStringConvertible {
    public let description: String
    init(_ description: String) { self.description = description }
}

/// A node of a database: an open ``Database`` of one process.
struct PostgreSQLNode: Sendable {
    let id = String(UInt64.random(in: .min ... .max), radix: 36)
    /// The schema of its tables. Only nodes with the same one tell each other what happened.
    let namespace: String
    /// Whether a Redis is the bus. Nodes with different buses do not hear each other, so their names differ.
    var isOnRedis = false

    /// The name of its connections, by which others see whether it lives.
    var name: String { prefix + id }
    /// The names of the connections of all nodes begin with this text. PostgreSQL cuts names after 63 bytes.
    var prefix: String { prefix(isOnRedis: isOnRedis) }
    /// The same of nodes with another bus.
    var otherPrefix: String { prefix(isOnRedis: !isOnRedis) }

    private func prefix(isOnRedis: Bool) -> String {
        isOnRedis ? "concord+redis \(namespace.prefix(34)) " : "concord \(namespace.prefix(40)) "
    }

    /// Heartbeats have a channel of their own, because nodes of an older version do not know them.
    func channel(for kind: NodeNews.Kind) -> String {
        switch kind {
        case .batch, .gap: "concord_\(namespace)"
        case .beat, .end: "concord_\(namespace) beats"
        }
    }
}

extension PostgreSQLConnection {
    /// Returns the ends of the names that begin with a text, of all connections to this database.
    func nodes(named prefix: String) throws -> Set<String> {
        var nodes: Set<String> = []
        try query(
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

    private static let database: SQL = "(SELECT oid FROM pg_database WHERE datname = current_database())"
    /// A text that differs between any two databases, except for copies of a server's files. A standby has that of its
    /// primary.
    static let identity: SQL = "(SELECT CONCAT(system_identifier, '-', \(database)) FROM pg_control_system())"

    fileprivate func databaseIdentity() throws -> String {
        var identity = ""
        func take(_ row: borrowing Row) throws -> Bool {
            identity = try row.get(0, as: String.self)
            return false
        }
        do {
            try query("SELECT \(Self.identity)", take)
        } catch DatabaseFailure.failed {
            // The server is only compatible with PostgreSQL, and does not have this function.
            try query("SELECT CONCAT(current_database(), '-', \(Self.database))", take)
        }
        return identity
    }
}

// MARK: PostgreSQL

/// Notifies outside of transactions.
private final class PostgreSQLNewsSender: NewsSender {
    private let connection: PostgreSQLConnection
    private let node: PostgreSQLNode

    init(_ bus: NodeBus) throws {
        connection = try bus.connectToDatabase()
        node = bus.node
        // Nothing that must be on the disk is written here.
        try connection.simple("SET synchronous_commit = off")
    }

    var isBroken: Bool { connection.isBroken }

    func send(_ news: [NodeNews]) throws {
        try connection.notify(news.map { (channel: node.channel(for: $0.kind), text: $0.text) })
    }
}

private final class PostgreSQLNewsReceiver: NewsReceiver {
    private let connection: PostgreSQLConnection
    private let prefix: String

    init(_ bus: NodeBus) throws {
        connection = try bus.connectToDatabase()
        prefix = bus.node.prefix
        for kind in [NodeNews.Kind.batch, .beat] {
            try connection.simple("LISTEN \"\(bus.node.channel(for: kind))\"")
        }
    }

    func texts(waitingMilliseconds timeout: Int32) throws -> [String] {
        try connection.notifications(waitingMilliseconds: timeout)
    }

    func connectedNodes() throws -> Set<String>? { try connection.nodes(named: prefix) }
}

// MARK: Redis

private final class RedisNewsSender: NewsSender {
    /// The number of messages in one round trip.
    private static let together = 500

    private let connection: RedisConnection
    private let channel: String

    init(_ server: RedisServer, _ channel: String) throws {
        connection = try RedisConnection(to: server)
        self.channel = channel
    }

    var isBroken: Bool { connection.isClosed }

    func send(_ news: [NodeNews]) throws {
        for start in stride(from: 0, to: news.count, by: Self.together) {
            let part = news[start..<min(start + Self.together, news.count)]
            try connection.publish(part.map { (channel: channel, text: $0.text) })
        }
    }
}

private final class RedisNewsReceiver: NewsReceiver {
    /// The time without any message, in seconds, after which the connection counts as lost: this node's own heartbeats come
    /// every second.
    private static let patience: Double = 10

    private let bus: NodeBus
    private let connection: RedisConnection
    private var database: PostgreSQLConnection?
    private var heardAt = ContinuousClock.now

    init(_ bus: NodeBus, _ server: RedisServer, _ channel: String) throws {
        self.bus = bus
        connection = try RedisConnection(to: server)
        try connection.subscribe(to: [channel])
    }

    func texts(waitingMilliseconds timeout: Int32) throws -> [String] {
        let texts = try connection.messages(waitingMilliseconds: Int(timeout))
        if !texts.isEmpty { heardAt = .now }
        guard heardAt.duration(to: .now) < .seconds(Self.patience) else {
            throw DatabaseFailure.unavailable("nothing has come from \(bus.description) for \(Self.patience) s")
        }
        return texts
    }

    /// Redis does not know which nodes live, but the database does.
    func connectedNodes() -> Set<String>? {
        do {
            let connection = try database ?? bus.connectToDatabase()
            database = connection
            return try connection.nodes(named: bus.node.prefix)
        } catch {
            database = nil
            return nil
        }
    }
}
