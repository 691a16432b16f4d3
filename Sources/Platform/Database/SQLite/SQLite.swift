import CSQLite
import Foundation
import GRDB
import NIOConcurrencyHelpers
import NIOPosix

/// Runs transactions on SQLite: one writing connection with group commit, and a few reading ones, each used by one
/// thread at a time.
final class SQLiteEngine: Sendable {
    private let writer: SQLiteConnection
    private let writerThread: NIOThreadPool
    private let readers: SQLiteReaders
    private let queue: NIOLockedValueBox<WriteQueue>
    private let inHand = WorkInHand()
    private let together: Int
    private let path: String
    private let metrics: DatabaseMetrics
    private let watch: DamageWatch
    private let cleanStop: CleanStop?

    private struct WriteQueue {
        var line: WaitingQueue<Write>
        var isDraining = false
        var isOver = false
    }

    /// SQLite counts its allocations by default, behind a lock that all connections share. Nothing reads the counts. In a
    /// process that has used SQLite before, the counts stay, and cost a little time.
    private static let isPrepared = concord_sqlite_without_statistics() == SQLITE_OK

    /// The size in bytes that the write-ahead log keeps after all of it is in the database.
    private static let logSize = 8 << 20

    /// The bytes of the file that a reading connection maps at most, where files are mapped (``MappedFiles``). The rows of a
    /// chat or a person lie all over the file, and a mapped page needs no system call.
    private static let mappedSize = 1 << 30

    /// - Throws: A `DatabaseError` of the engine when the file cannot be opened, ``SchemaMismatch``,
    ///   ``DatabaseDamage``.
    init(
        path: String, schema: Schema, readers count: Int, waiting: QueueLimits, owner: Database.Owner?,
        metrics: DatabaseMetrics
    ) throws {
        _ = Self.isPrepared
        self.path = path
        self.metrics = metrics
        together = waiting.together
        let watch = DamageWatch(path: path) { owner?.damaged($0) }
        self.watch = watch
        cleanStop = owner.map { _ in CleanStop(path: path) }
        let mustLook = cleanStop.map { !$0.wasClean() } ?? false
        if mustLook { owner?.looks(path) }
        let connections = try watch.opening {
            try Self.open(path: path, schema: schema, readers: count, watch: watch, mustLook: mustLook)
        }
        writer = connections.writer
        writerThread = NIOThreadPool(numberOfThreads: 1)
        readers = SQLiteReaders(connections.readers, waiting: waiting, metrics: metrics)
        queue = NIOLockedValueBox(WriteQueue(line: WaitingQueue(waiting, metrics: metrics)))
        writerThread.start()
    }

    private static func open(
        path: String, schema: Schema, readers count: Int, watch: DamageWatch, mustLook: Bool
    ) throws -> (writer: SQLiteConnection, readers: [SQLiteConnection]) {
        if mustLook { try look(at: path) }
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        let writer = try SQLiteConnection(DatabaseQueue(path: path, configuration: configuration), watch)
        try writer.keepLog()
        // The usual setting NORMAL loses acknowledged writes in a power failure; group commit makes FULL affordable. A
        // slow reader may have let the log grow, which then shrinks again.
        for setting in ["synchronous = FULL", "foreign_keys = ON", "journal_size_limit = \(logSize)"] {
            try writer.run(SQL(trusted: "PRAGMA \(setting)"))
        }
        try schema.migrate(dialect: .sqlite) { body in try writer.write(body) }
        configuration.readonly = true
        let mapped = MappedFiles.mayMap(path) ? mappedSize : 0
        let connections = try (0..<count).map { _ in
            let reader = try SQLiteConnection(DatabaseQueue(path: path, configuration: configuration), watch)
            try reader.run(SQL(trusted: "PRAGMA mmap_size = \(mapped)"))
            return reader
        }
        return (writer, connections)
    }

    /// Throws ``DatabaseDamage`` unless the whole file can be read. It opens the file for reading only, so that closing
    /// changes nothing.
    private static func look(at path: String) throws {
        var configuration = Configuration()
        configuration.readonly = true
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.inDatabase { try $0.quickCheck(path) }
        try queue.close()
    }

    static func administer(path: String, _ script: String) throws {
        // A dump has its tables in any order.
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.writeWithoutTransaction { try $0.execute(sql: script) }
        try queue.close()
    }

    var readerCount: Int { readers.count }

    func read<T: Sendable>(_ body: @escaping @Sendable (Session) throws -> T) async throws -> T {
        try await readers.read(body)
    }

    func write<T: Sendable>(_ body: @escaping @Sendable (Session) throws -> T) async throws -> T {
        let isPatient = QueueLimits.isPatient
        let result = Outcome<T>()
        let write = Write { result.value = try body($0) }
        try await write.wait(isPatient: isPatient) {
            let (mustDrain, refused) = queue.withLockedValue { queue -> (Bool, [Write]) in
                if queue.isOver { return (false, [write]) }
                let refused = queue.line.add(write, isPatient: isPatient)
                guard !queue.isDraining, !queue.line.isEmpty else { return (false, refused) }
                queue.isDraining = true
                inHand.begin()
                return (true, refused)
            }
            for other in refused { other.refuse(QueueLimits.refusal) }
            if mustDrain { writerThread.submitSoon { self.drain() } }
        }
        return try result.get()
    }

    private func drain() {
        while true {
            let next = queue.withLockedValue { queue in
                let next = queue.line.next(together)
                if next.admitted.isEmpty {
                    queue.isDraining = false
                    inHand.end()
                }
                return next
            }
            for write in next.refused { write.refuse(QueueLimits.refusal) }
            guard !next.admitted.isEmpty else { return }
            // Callers that were cancelled while waiting are left out.
            let writes = next.admitted.filter { $0.begin() }
            guard !writes.isEmpty else { continue }
            metrics.commits.record(writes.count)
            GroupCommit.run(writes, on: Writer(writer, watch))
        }
    }

    /// The number of writes and reads that wait for their turn.
    var waitingCount: Int { queue.withLockedValue { $0.line.count } + readers.waitingCount }

    /// The queue, connections and files at this moment. It looks at the files, so it blocks for a moment.
    var load: DatabaseLoad {
        let size = { (path: String) in
            var status = stat()
            return stat(path, &status) == 0 ? Int64(status.st_size) : 0
        }
        let writers = queue.withLockedValue { $0.isDraining ? 1 : 0 }
        return DatabaseLoad(
            waiting: waitingCount,
            connections: (readerCount + 1, readers.busyCount + writers),
            files: (size(path), size(path + "-wal")))
    }

    /// Refuses all waiting and new transactions.
    func refuseAll() {
        readers.refuseAll()
        let waiting = queue.withLockedValue { queue in
            queue.isOver = true
            return queue.line.removeAll()
        }
        for write in waiting { write.refuse(QueueLimits.stopping) }
    }

    /// Throws once the file is known to be damaged.
    func requireSound() throws { try watch.requireSound() }

    /// Copies the database, and reads the copy. It blocks.
    func backUp<T>(
        to copy: String, _ progress: @escaping (_ done: Int, _ total: Int) throws -> Void,
        reading body: (Session) throws -> T
    ) throws -> T {
        try requireSound()
        try SQLiteFile.copy(path, to: copy, progress)
        return try SQLiteFile.reading(copy, check: .quick, body)
    }

    /// Waits until every accepted write is done.
    func close() async throws {
        queue.withLockedValue { $0.isOver = true }
        await inHand.wait()
        try await writerThread.shutdownGracefully()
        try await readers.finish()
        guard watch.damage == nil else {
            // Closing the last connection would write the log into the damaged file, so the process exits with them
            // open.
            _ = Unmanaged.passRetained(self)
            return
        }
        try readers.closeConnections()
        try writer.close()
        cleanStop?.note()
    }
}

/// The writing connection in the hands of ``GroupCommit``.
private struct Writer: WriterConnection {
    let connection: SQLiteConnection
    let session: Session
    let watch: DamageWatch

    init(_ connection: SQLiteConnection, _ watch: DamageWatch) {
        self.connection = connection
        self.watch = watch
        session = Session(connection)
    }

    private static let begin: SQL = "BEGIN IMMEDIATE TRANSACTION"
    private static let commit: SQL = "COMMIT TRANSACTION"

    func begin() throws {
        try watch.requireSound()
        connection.noteBegin()
        try execute(Self.begin)
    }

    func commit() throws {
        // One of the closures may have found the file to be damaged.
        try watch.requireSound()
        try execute(Self.commit)
    }

    func rollback() { if isInTransaction { try? execute("ROLLBACK TRANSACTION") } }
    var changes: Int { connection.changes }
    var isInTransaction: Bool { connection.isInTransaction }
    var mustRollBack: Bool { connection.mustRollBack }

    private func execute(_ sql: SQL) throws {
        do {
            try connection.run(sql)
        } catch let error as DatabaseError {
            let failure = watch.failure(error)
            switch failure {
            case .damaged, .full: throw failure
            default: throw DatabaseFailure.unavailable(error.description)
            }
        }
    }
}
