import Foundation
import GRDB
import NIOConcurrencyHelpers
import NIOPosix

/// SQLite: one writing connection with group commit, and a few that read, each used by one thread at a time.
final class SQLiteEngine: Sendable {
    private let writer: Connection
    private let readers: NIOLockedValueBox<[Connection]>
    private let writerThread: NIOThreadPool
    private let readerThreads: NIOThreadPool
    private let queue = NIOLockedValueBox(WriteQueue())

    private struct WriteQueue {
        var waiting: [any PendingWrite] = []
        var isDraining = false
    }

    /// - Throws: a `DatabaseError` of the engine when the file cannot be opened, ``SchemaMismatch``.
    init(path: String, schema: Schema, readers count: Int) throws {
        var configuration = Configuration()
        configuration.journalMode = .wal
        configuration.busyMode = .timeout(5)
        let writer = Connection(try DatabaseQueue(path: path, configuration: configuration))
        // WAL's usual NORMAL loses acknowledged writes when the power goes. Group commit pays for FULL.
        try writer.use { try $0.execute(sql: "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON") }
        try schema.migrate(dialect: .sqlite) { body in
            try writer.use { db in
                try db.inTransaction(.immediate) {
                    try body(Session(SQLiteStatements(db)))
                    return .commit
                }
            }
        }
        self.writer = writer
        configuration.readonly = true
        let connections = try (0..<count).map { _ in
            Connection(try DatabaseQueue(path: path, configuration: configuration))
        }
        readers = NIOLockedValueBox(connections)
        writerThread = NIOThreadPool(numberOfThreads: 1)
        readerThreads = NIOThreadPool(numberOfThreads: count)
        writerThread.start()
        readerThreads.start()
    }

    func read<T: Sendable>(_ body: @escaping @Sendable (Session) throws -> T) async throws -> T {
        try await readerThreads.runIfActive { [readers] in
            // There are as many connections as threads, so one is always free.
            guard let connection = readers.withLockedValue({ $0.popLast() }) else {
                throw DatabaseFailure.unavailable("no connection")
            }
            defer { readers.withLockedValue { $0.append(connection) } }
            return try connection.use { db in
                try db.cachedStatement(sql: "BEGIN DEFERRED TRANSACTION").execute()
                defer { try? db.cachedStatement(sql: "COMMIT TRANSACTION").execute() }
                return try body(Session(SQLiteStatements(db)))
            }
        }
    }

    func write<T: Sendable>(_ body: @escaping @Sendable (Session) throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            let mustDrain = queue.withLockedValue { queue in
                queue.waiting.append(Write(body, continuation))
                defer { queue.isDraining = true }
                return !queue.isDraining
            }
            if mustDrain { writerThread.submit { _ in self.drain() } }
        }
    }

    private func drain() {
        while true {
            let writes = queue.withLockedValue { queue in
                defer { queue.waiting.removeAll(keepingCapacity: true) }
                if queue.waiting.isEmpty { queue.isDraining = false }
                return queue.waiting
            }
            guard !writes.isEmpty else { return }
            do {
                try writer.use { db in
                    GroupCommit.run(writes, on: Writer(db: db, session: Session(SQLiteStatements(db))))
                }
            } catch {
                for write in writes { write.finish(error) }
            }
        }
    }

    /// Ends when every write that was taken on is done.
    func close() async throws {
        try await writerThread.shutdownGracefully()
        try await readerThreads.shutdownGracefully()
        for connection in readers.withLockedValue({ $0 }) { try connection.close() }
        try writer.close()
    }
}

/// A connection, used by one thread at a time.
private struct Connection: Sendable {
    private let queue: DatabaseQueue

    init(_ queue: DatabaseQueue) { self.queue = queue }

    func use<T>(_ body: (GRDB.Database) throws -> T) throws -> T { try queue.inDatabase(body) }
    func close() throws { try queue.close() }
}

private struct Writer: WriterConnection {
    let db: GRDB.Database
    let session: Session

    func begin() throws { try execute("BEGIN IMMEDIATE TRANSACTION") }
    func commit() throws { try execute("COMMIT TRANSACTION") }
    func savepoint() throws { try execute("SAVEPOINT one") }
    func release() throws { try execute("RELEASE SAVEPOINT one") }
    func rollbackToSavepoint() throws { try execute("ROLLBACK TRANSACTION TO SAVEPOINT one") }
    func rollback() { if db.isInsideTransaction { try? execute("ROLLBACK TRANSACTION") } }
    var changes: Int { db.totalChangesCount }
    var isInTransaction: Bool { db.isInsideTransaction }

    private func execute(_ sql: String) throws {
        do {
            try db.cachedStatement(sql: sql).execute()
        } catch let error as DatabaseError {
            throw DatabaseFailure.unavailable(error.description)
        }
    }
}
