import CoreMetrics
import Foundation
import NIOConcurrencyHelpers

/// A standby of the database that answers reads while every commit waits until the standby shows it.
///
/// With `synchronous_commit = remote_apply` a commit ends once the synchronous standbys have applied it
/// (https://www.postgresql.org/docs/current/runtime-config-wal.html#GUC-SYNCHRONOUS-COMMIT). So a read of such a standby sees
/// whatever any node has acknowledged, as a read of the primary does. Whether this standby is one is asked again and again: a
/// primary that may choose between standbys no longer waits for one that is away, and then that is not asked for a read.
final class PostgreSQLReplica: Sendable {
    /// The time between two checks.
    private static let interval: TimeInterval = 0.5
    /// The time for which the standby may take to apply what the primary has written when a check begins.
    private static let patience: Duration = .seconds(1)
    /// The time for which a check holds, from its beginning. What a read misses was acknowledged within it.
    private static let lease: Duration = .seconds(3)

    private struct State {
        var usableUntil: ContinuousClock.Instant?
        var problem = "it has not been asked yet"
        var isOver = false

        var isUsable: Bool { usableUntil.map { ContinuousClock.now < $0 } ?? false }
    }

    let connectionCount: Int
    private let workers: Workers
    private let pool: PostgreSQLPool
    private let state = NIOLockedValueBox(State())
    private let reads = Counter(label: "concord_database_replica_reads_total")

    /// - Parameter primary: The connections to the database that takes writes.
    init(
        url: String, namespace: String, connections: Int, waiting: QueueLimits, metrics: DatabaseMetrics,
        of primary: PostgreSQLPool
    ) {
        connectionCount = connections
        // The primary answers at once when the standby does not.
        pool = PostgreSQLPool(patience: 0) { try PostgreSQLConnection(url: url, namespace: namespace) }
        workers = Workers(connections, waiting: waiting, metrics: metrics)
        watch(primary)
    }

    deinit { state.withLockedValue { $0.isOver = true } }

    /// The reason why reads go to the primary; nil while the standby is asked.
    var problem: String? { state.withLockedValue { $0.isUsable ? nil : $0.problem } }
    var waitingCount: Int { workers.waitingCount }
    var busyCount: Int { pool.busyCount }

    /// Runs a closure on the standby.
    ///
    /// - Returns: Nil when the standby is not asked or fails. The closure may have run, and the primary has to be asked.
    /// - Throws: What the closure throws, and `CancellationError`.
    func read<T: Sendable>(_ body: @escaping @Sendable (Session) throws -> T) async throws -> T? {
        guard state.withLockedValue({ $0.isUsable }) else { return nil }
        do {
            let value = try await workers.run { [pool] in
                try pool.using { connection in
                    do {
                        return try PostgreSQLEngine.read(on: connection, body)
                    } catch let failure as DatabaseFailure {
                        // Another connection may have no such trouble, for example with a statement that was prepared before
                        // a table changed.
                        connection.discard()
                        throw failure
                    }
                }
            }
            reads.increment()
            return value
        } catch DatabaseFailure.conflict {
            // The standby could apply a change only by ending the read.
            return nil
        } catch let failure as DatabaseFailure {
            state.withLockedValue { ($0.usableUntil, $0.problem) = (nil, "\(failure)") }
            return nil
        }
    }

    func refuseAll() {
        workers.refuseAll()
        pool.abandon()
    }

    func close() async throws {
        state.withLockedValue { $0.isOver = true }
        try await workers.close()
        pool.close()
    }

    // MARK: Checks

    private func watch(_ primary: PostgreSQLPool) {
        let thread = Thread { [weak self] in
            while let isOver = self?.look(primary), !isOver { Thread.sleep(forTimeInterval: Self.interval) }
        }
        thread.name = "postgresql replica"
        thread.start()
    }

    /// Checks whether commits wait for the standby.
    ///
    /// - Returns: Whether the replica was closed.
    private func look(_ primary: PostgreSQLPool) -> Bool {
        let start = ContinuousClock.now
        let problem: String?
        do {
            let standby = try pool.using { try PostgreSQLEngine.read(on: $0) { try Standby($0) } }
            let position = try primary.using { try PostgreSQLEngine.read(on: $0) { try standby.position(at: $0) } }
            // Commits did not wait for a standby that has just come back, and it may not have applied them yet.
            while try !pool.using({ try PostgreSQLEngine.read(on: $0) { try Standby.shows(position, $0) } }) {
                guard ContinuousClock.now - start < Self.patience else { throw Standby.Unusable("it is behind") }
                Thread.sleep(forTimeInterval: 0.01)
            }
            problem = nil
        } catch {
            problem = "\(error)"
        }
        return state.withLockedValue { state in
            if let problem {
                (state.usableUntil, state.problem) = (nil, problem)
            } else {
                (state.usableUntil, state.problem) = (start + Self.lease, "its last check took too long")
            }
            return state.isOver
        }
    }
}

/// The properties of a standby, as it states them itself.
private struct Standby {
    private let isStandby: Bool
    /// The name under which its primary lists it.
    private let name: String
    private let identity: String

    init(_ db: Session) throws {
        let found: (Bool, String, String)? = try db.one(
            """
            SELECT CAST(pg_is_in_recovery() AS INTEGER), current_setting('cluster_name'),
                \(PostgreSQLConnection.identity)
            """
        ) { try ($0.get(0), $0.get(1), $0.get(2)) }
        guard let found else { throw DatabaseFailure.unavailable("no answer") }
        (isStandby, name, identity) = found
    }

    /// The reason why a read of the standby could miss what was acknowledged.
    struct Unusable: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    /// Returns a position of the primary's log. All commits after it wait for the standby.
    ///
    /// - Throws: ``Unusable``.
    func position(at primary: Session) throws -> String {
        guard isStandby else { throw Unusable("it is not a standby") }
        guard !name.isEmpty else { throw Unusable("it has no name: set cluster_name in its postgresql.conf") }
        let listed: SQL = "FROM pg_stat_replication WHERE application_name = \(name)"
        let found: (identity: String, setting: String, standbys: Int, synchronous: Int)? = try primary.one(
            """
            SELECT \(PostgreSQLConnection.identity), current_setting('synchronous_commit'),
                (SELECT count(*) \(listed)), (SELECT count(*) \(listed) AND sync_state = 'sync')
            """
        ) { try ($0.get(0), $0.get(1), $0.get(2), $0.get(3)) }
        guard let found, found.identity == identity else { throw Unusable("it is a standby of another database") }
        guard found.setting == "remote_apply" else {
            throw Unusable("commits do not wait for it: synchronous_commit is \(found.setting), not remote_apply")
        }
        guard found.standbys > 0 else {
            throw Unusable("the primary has no standby named '\(name)', its cluster_name")
        }
        guard found.standbys == found.synchronous else {
            throw Unusable(
                """
                commits do not wait for it: '\(name)' is not among the first of synchronous_standby_names, or this \
                role may not see that (GRANT pg_monitor)
                """)
        }
        return try primary.value("SELECT CAST(pg_current_wal_flush_lsn() AS TEXT)") ?? ""
    }

    /// Returns whether the standby shows what the primary's log has up to a position.
    static func shows(_ position: String, _ db: Session) throws -> Bool {
        try db.exists("SELECT 1 WHERE pg_last_wal_replay_lsn() >= CAST(\(position) AS pg_lsn)")
    }
}
