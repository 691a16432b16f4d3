import CoreMetrics

/// Records the transactions of one database.
struct DatabaseMetrics: Sendable {
    /// The times for which transactions waited for their turn.
    let wait = CoreMetrics.Timer(label: "concord_database_wait_seconds")
    /// The transactions that were refused because they had waited too long, or because there was no place in the queue.
    let refusals = Counter(label: "concord_database_refused_total")
    /// The numbers of writes that were made durable together.
    let commits = Recorder(label: "concord_database_group_commit_size")
    let reads = Self.transactions("read")
    let writes = Self.transactions("write")

    private static func transactions(_ kind: String) -> CoreMetrics.Timer {
        CoreMetrics.Timer(label: "concord_database_transaction_duration_seconds", dimensions: [("kind", kind)])
    }
}

extension CoreMetrics.Timer {
    /// Records the time since a moment.
    func record(since start: ContinuousClock.Instant) { record(ContinuousClock.now - start) }

    func record(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}

/// The queue, connections and files of a database at one moment.
package struct DatabaseLoad: Sendable {
    /// The number of transactions that wait for their turn.
    package var waiting: Int
    /// The number of connections, and of those that are in use.
    package var connections: (limit: Int, inUse: Int)
    /// The sizes in bytes of SQLite's file and of its write-ahead log; nil for PostgreSQL.
    package var files: (database: Int64, log: Int64)?
    /// The announcements that wait for the event bus, and whether it is connected; nil where nothing is announced.
    package var bus: (waiting: Int, isConnected: Bool)?
    /// Whether reads go to the replica; nil where there is none.
    package var isReplicaUsed: Bool?
}
