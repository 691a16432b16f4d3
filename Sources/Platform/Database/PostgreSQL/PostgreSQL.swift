import CoreMetrics
import Foundation
import NIOConcurrencyHelpers

/// Runs transactions on PostgreSQL: blocking prepared statements on as many threads as connections.
final class PostgreSQLEngine: Sendable {
    /// The number of attempts for a transaction that conflicts with others.
    private static let attempts = 8

    private let url: String
    private let namespace: String
    private let workers: Workers
    private let pool: PostgreSQLPool
    private let replica: PostgreSQLReplica?
    private let notifier: NodeNotifier
    private let busState = BusState()
    private let gaps = Counter(label: "concord_bus_gaps_total")
    /// The listeners of this process.
    private let listeners: NIOLockedValueBox<[UUID: LocalListener]>
    /// The numbers of writes that wait to share a transaction.
    private let lines = NIOLockedValueBox<[@Sendable () -> Int]>([])
    let connectionCount: Int
    /// The limits on waiting transactions.
    let waiting: QueueLimits

    private struct LocalListener {
        let sender: Database.Announcer
        let handler: @Sendable (Announcement) -> Void
    }

    /// - Parameters:
    ///   - pooler: The URL of a pooler of transactions in front of the same database, through which transactions go; nil for
    ///     none.
    ///   - replica: The URL of a standby that answers reads; nil for none.
    init(
        url: String, pooler: String?, replica: String?, bus: AnnouncementBus, schema: Schema, namespace: String,
        connections: Int, waiting: QueueLimits, metrics: DatabaseMetrics
    ) throws {
        self.url = url
        self.namespace = namespace
        connectionCount = connections
        self.waiting = waiting
        let node = PostgreSQLNode(namespace: namespace, isOnRedis: bus != .postgreSQL)
        let connection = try PostgreSQLConnection(url: url, namespace: namespace, name: node.name)
        let bus = try NodeBus(bus, node, at: url, connection)
        try Self.migrate(connection, schema, namespace)
        // The others know of this node before it can commit anything, so they notice its death at any time.
        let beat = NodeNews(.beat, 0, of: node.id)
        if bus.isApart {
            try bus.sender().send([beat])
        } else {
            try connection.notify([(node.channel(for: .beat), beat.text)])
        }
        let connect: @Sendable () throws -> PostgreSQLConnection = {
            guard let pooler else { return try bus.connectToDatabase() }
            return try PostgreSQLConnection(url: pooler, namespace: namespace, isPooled: true)
        }
        pool = PostgreSQLPool(idle: pooler == nil ? connection : try connect(), connect: connect)
        let listeners = NIOLockedValueBox<[UUID: LocalListener]>([:])
        self.listeners = listeners
        notifier = NodeNotifier(bus, busState) {
            for listener in listeners.withLockedValue({ Array($0.values) }) { listener.handler(.gap) }
        }
        workers = Workers(connections, waiting: waiting, metrics: metrics)
        self.replica = replica.map { [pool] in
            PostgreSQLReplica(
                url: $0, namespace: namespace, connections: connections, waiting: waiting, metrics: metrics, of: pool)
        }
        // A node that has connections and is silent on a bus that is apart looks as if it had lost that bus.
        if bus.isApart { notifier.start() }
    }

    deinit { notifier.end() }

    /// The beginning of the names that the connections of all nodes have.
    var nodePrefix: String { PostgreSQLNode(namespace: namespace).prefix }

    /// Migrates the schema. Nodes that start at the same time do so one after the other.
    static func migrate(_ connection: PostgreSQLConnection, _ schema: Schema, _ namespace: String) throws {
        try connection.simple("SELECT pg_advisory_lock(hashtext('concord migrations \(namespace)'))")
        defer { try? connection.simple("SELECT pg_advisory_unlock_all()") }
        try connection.simple("CREATE SCHEMA IF NOT EXISTS \"\(namespace)\"")
        try schema.migrate(dialect: .postgreSQL) { body in
            _ = try write(on: connection, body)
        }
    }

    func read<T: Sendable>(
        from place: Database.ReadPlace, _ body: @escaping @Sendable (Session) throws -> T
    ) async throws -> T {
        if place == .replica, let value = try await replica?.read(body) { return value }
        return try await run { try Self.read(on: $0, body) }
    }

    static func read<T>(on connection: PostgreSQLConnection, _ body: (Session) throws -> T) throws -> T {
        try transaction(on: connection, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", reading: true) { session in
            let value = try body(session)
            connection.endReading()
            return value
        }
    }

    func write<T: Sendable>(_ body: @escaping @Sendable (Session) throws -> T) async throws -> T {
        try await run { [notifier] connection in
            do {
                let (value, actions) = try Self.write(on: connection, body)
                for action in actions { action() }
                return value
            } catch DatabaseFailure.unknownOutcome(let reason) {
                // What it would have announced may be committed.
                notifier.doubt(connection.serverProcess)
                throw DatabaseFailure.unknownOutcome(reason)
            }
        }
    }

    static func write<T>(
        on connection: PostgreSQLConnection, _ body: (Session) throws -> T
    ) throws -> (T, [@Sendable () -> Void]) {
        // This does not depend on the server's defaults: a statement after a lock must see what was committed before the
        // lock was granted.
        try transaction(on: connection, "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE") { session in
            let value = try body(session)
            try connection.commit()
            return (value, session.takeCommitActions())
        }
    }

    /// Runs a closure in a transaction, and rolls back when it throws. The closure commits.
    static func transaction<T>(
        on connection: PostgreSQLConnection, _ begin: SQL, reading isReading: Bool = false,
        _ body: (Session) throws -> T
    ) throws -> T {
        try connection.begin(begin, reading: isReading)
        do {
            return try body(Session(connection))
        } catch {
            connection.rollBack()
            throw error
        }
    }

    /// Runs a transaction on a connection, and repeats it where that is safe.
    private func run<T: Sendable>(
        _ transaction: @escaping @Sendable (PostgreSQLConnection) throws -> T
    ) async throws -> T {
        try await workers.run { [pool] in
            var attempt = 1
            var hasLostOne = false
            while true {
                let connection = try pool.take(isReplacement: hasLostOne)
                do {
                    let value = try transaction(connection.value)
                    pool.give(connection)
                    return value
                } catch {
                    let isBroken = connection.value.isBroken
                    pool.give(connection)
                    switch error {
                    // Neither has written anything: a conflict was rolled back, and so was the transaction of a lost
                    // connection.
                    case DatabaseFailure.conflict where attempt < Self.attempts: attempt += 1
                    case DatabaseFailure.unavailable where isBroken && !hasLostOne: hasLostOne = true
                    default: throw error
                    }
                }
            }
        }
    }

    /// Dumps the database's schema, and reads the same state of it. It blocks.
    func backUp<T>(
        to path: String, using tools: PostgreSQLTools, reading body: (Session) throws -> T
    ) throws -> T {
        let connection = try PostgreSQLConnection(url: url, namespace: namespace, isPatient: true)
        return try Self.transaction(
            on: connection, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        ) { session in
            let snapshot: String = try session.value("SELECT pg_export_snapshot()") ?? ""
            let value = try body(session)
            try tools.dump(url, schema: namespace, snapshot: snapshot, to: path)
            connection.endReading()
            return value
        }
    }

    // MARK: Announcements

    /// Announces a text to the other nodes, and to the other listeners of this one.
    func announce(from sender: Database.Announcer, _ text: @escaping NodeNotifier.Text) {
        notifier.announce(text)
        for listener in listeners.withLockedValue({ Array($0.values) }) where listener.sender != sender {
            listener.handler(text().map { .payload($0) } ?? .gap)
        }
    }

    /// Calls the handler for what others than the sender announce, until the returned closure is called.
    func listen(
        as sender: Database.Announcer, _ handler: @escaping @Sendable (Announcement) -> Void
    ) -> (@Sendable () -> Void) {
        let id = UUID()
        listeners.withLockedValue { $0[id] = LocalListener(sender: sender, handler: handler) }
        notifier.start()
        let listener = NodeListener(notifier.bus, busState) { [pool, gaps] announcement in
            // The listener may have just connected, so the server answers, and readers of missed events need not wait.
            if announcement == .gap {
                gaps.increment()
                pool.endPauses()
            }
            handler(announcement)
        }
        return { [listeners] in
            listeners.withLockedValue { $0[id] = nil }
            listener.stop()
        }
    }

    /// Announces what is left, and takes leave of the other nodes.
    private func takeLeave() {
        guard !notifier.stop() else { return }
        let node = notifier.bus.node
        try? pool.using { try $0.notify([(node.channel(for: .end), NodeNews(.end, 0, of: node.id).text)]) }
    }

    var hasBusApart: Bool { notifier.bus.isApart }

    /// Throws if a separate bus (Redis) is unreachable.
    func checkBus() throws {
        guard notifier.bus.isApart, let reason = busState.failure else { return }
        throw DatabaseFailure.unavailable("the event bus \(notifier.bus.description): \(reason)")
    }

    var hasReplica: Bool { replica != nil }

    /// Throws when there is a replica that is not asked now.
    func checkReplica() throws {
        if let problem = replica?.problem { throw DatabaseFailure.unavailable("the replica: \(problem)") }
    }

    /// The number of transactions that wait for their turn, and of writes that wait to share one.
    var waitingCount: Int {
        lines.withLockedValue { $0 }.reduce(workers.waitingCount + (replica?.waitingCount ?? 0)) { $0 + $1() }
    }

    /// Counts what waits elsewhere, too.
    func count(_ line: @escaping @Sendable () -> Int) { lines.withLockedValue { $0.append(line) } }

    var load: DatabaseLoad {
        DatabaseLoad(
            waiting: waitingCount,
            connections: (
                connectionCount + (replica?.connectionCount ?? 0), pool.busyCount + (replica?.busyCount ?? 0)
            ), files: nil, bus: notifier.waitingCount.map { (waiting: $0, isConnected: busState.failure == nil) },
            isReplicaUsed: replica.map { $0.problem == nil })
    }

    /// Refuses all waiting and new transactions, and ends those that wait for the server's answer.
    func refuseAll() {
        replica?.refuseAll()
        workers.refuseAll()
        pool.abandon()
    }

    func close() async throws {
        try await replica?.close()
        try await workers.close()
        takeLeave()
        pool.close()
    }
}
