import Foundation
import NIOConcurrencyHelpers
import NIOPosix

/// PostgreSQL: blocking prepared statements on as many threads as connections.
final class PostgreSQLEngine: Sendable {
    /// A transaction that another was in the way of is repeated so often.
    private static let attempts = 8

    private let url: String
    private let namespace: String
    private let threads: NIOThreadPool
    private let pool: NIOLockedValueBox<Pool>

    private struct Pool {
        var idle: [PooledConnection] = []
        /// After a failure to connect: when the next may try, and how long the one after it waits.
        var retryAt = DispatchTime(uptimeNanoseconds: 0)
        var pause: Double = 0
    }

    init(url: String, schema: Schema, namespace: String, connections: Int) throws {
        self.url = url
        self.namespace = namespace
        threads = NIOThreadPool(numberOfThreads: connections)
        pool = NIOLockedValueBox(Pool())
        let connection = try PostgreSQLConnection(url: url, namespace: namespace)
        try Self.migrate(connection, schema, namespace)
        pool.withLockedValue { $0.idle = [PooledConnection(connection)] }
        threads.start()
    }

    /// Nodes that start at once migrate one after the other.
    private static func migrate(_ connection: PostgreSQLConnection, _ schema: Schema, _ namespace: String) throws {
        try connection.simple("SELECT pg_advisory_lock(hashtext('concord migrations \(namespace)'))")
        defer { try? connection.simple("SELECT pg_advisory_unlock_all()") }
        try connection.simple("CREATE SCHEMA IF NOT EXISTS \"\(namespace)\"")
        try schema.migrate(dialect: .postgreSQL) { body in
            _ = try write(on: connection, body)
        }
    }

    func read<T: Sendable>(_ body: @escaping @Sendable (Session) throws -> T) async throws -> T {
        try await run { connection in
            try Self.transaction(on: connection, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") { session in
                let value = try body(session)
                connection.endReading()
                return value
            }
        }
    }

    func write<T: Sendable>(_ body: @escaping @Sendable (Session) throws -> T) async throws -> T {
        let (value, actions) = try await run { try Self.write(on: $0, body) }
        for action in actions { action() }
        return value
    }

    private static func write<T>(
        on connection: PostgreSQLConnection, _ body: (Session) throws -> T
    ) throws -> (T, [@Sendable () -> Void]) {
        try transaction(on: connection, "BEGIN") { session in
            let value = try body(session)
            try connection.commit()
            return (value, session.takeCommitActions())
        }
    }

    /// Begins, and rolls back what throws. The closure commits.
    private static func transaction<T>(
        on connection: PostgreSQLConnection, _ begin: SQL, _ body: (Session) throws -> T
    ) throws -> T {
        try connection.begin(begin)
        do {
            return try body(Session(connection))
        } catch {
            connection.rollBack()
            throw error
        }
    }

    /// Runs a transaction on a connection, again where that is safe.
    private func run<T: Sendable>(
        _ transaction: @escaping @Sendable (PostgreSQLConnection) throws -> T
    ) async throws -> T {
        try await threads.runIfActive {
            var attempt = 1
            while true {
                let connection = try self.take()
                do {
                    let value = try transaction(connection.value)
                    self.give(connection)
                    return value
                } catch {
                    let isBroken = connection.value.isBroken
                    self.give(connection)
                    switch error {
                    // Neither has written anything: a conflict was rolled back, and what a lost connection had begun too.
                    case DatabaseFailure.conflict where attempt < Self.attempts: attempt += 1
                    case DatabaseFailure.unavailable where isBroken && attempt == 1: attempt += 1
                    default: throw error
                    }
                }
            }
        }
    }

    func listen(_ handler: @escaping @Sendable (Announcement) -> Void) -> PostgreSQLListener {
        PostgreSQLListener(
            url: url, namespace: namespace, channel: PostgreSQLConnection.channel(namespace)
        ) { [pool] announcement in
            // It has just connected, so the server is there: whoever looks for what was missed need not wait.
            if announcement == .gap { pool.withLockedValue { $0.retryAt = .now() } }
            handler(announcement)
        }
    }

    // MARK: Connections

    /// A connection that nobody else uses: an idle one, or a new one. While the server is away, one at a time tries it,
    /// with growing pauses; all others are told at once.
    private func take() throws -> PooledConnection {
        let idle = try pool.withLockedValue { pool -> PooledConnection? in
            if let connection = pool.idle.popLast() { return connection }
            let now = DispatchTime.now()
            guard now >= pool.retryAt else { throw DatabaseFailure.unavailable("the server is away") }
            if pool.pause > 0 { pool.retryAt = now + pool.pause }
            return nil
        }
        if let idle { return idle }
        do {
            let connection = try PostgreSQLConnection(url: url, namespace: namespace)
            pool.withLockedValue { $0.pause = 0 }
            return PooledConnection(connection)
        } catch {
            pool.withLockedValue { pool in
                pool.pause = min(5, max(0.1, pool.pause * 2))
                pool.retryAt = .now() + pool.pause * .random(in: 0.5...1)
            }
            throw error
        }
    }

    private func give(_ connection: PooledConnection) {
        if connection.value.isBroken {
            // The others have lost the same server: each would cost a request its time.
            pool.withLockedValue { $0.idle.removeAll() }
        } else if connection.value.isIdle {
            pool.withLockedValue { $0.idle.append(connection) }
        }
    }

    func close() async throws {
        try await threads.shutdownGracefully()
        pool.withLockedValue { $0.idle.removeAll() }
    }
}

/// Hands a connection from thread to thread. The pool has it when nobody uses it, so that no two ever do.
private struct PooledConnection: @unchecked Sendable {
    let value: PostgreSQLConnection

    init(_ value: PostgreSQLConnection) { self.value = value }
}
