import Cores
import Foundation
import NIOConcurrencyHelpers
import Tracing

/// The database of one API.
///
/// `read` and `write` closures are transactions. They run synchronously on the engine's own threads. A request should
/// make one of them, because the switch between threads costs more than the query. A `write` closure may be run again
/// when another closure in the same transaction fails, so it must not change anything but its session.
public final class Database: Sendable {
    enum Engine {
        case sqlite(SQLiteEngine)
        case postgreSQL(PostgreSQLEngine)
    }

    let engine: Engine
    private let metrics: DatabaseMetrics
    /// Whether the last write failed for lack of space.
    private let isFull = NIOLockedValueBox(false)

    private init(_ metrics: DatabaseMetrics, _ engine: Engine) {
        self.engine = engine
        self.metrics = metrics
    }

    /// Opens an SQLite file, creating it when it does not exist, and brings its schema up to date.
    ///
    /// - Parameters:
    ///   - path: The path of the file; its folder exists. Another process may write to the file for a moment:
    ///     transactions wait for each other up to five seconds.
    ///   - readers: The number of connections that read at the same time.
    ///   - waiting: The limits on waiting transactions.
    ///   - owner: Passed by the one process that keeps the file open. After an unclean stop, the whole file is checked
    ///     before it is used.
    /// - Throws: ``SchemaMismatch`` for a database of a newer version or of another program, ``DatabaseDamage``.
    public static func sqlite(
        path: String, schema: Schema, readers: Int = max(2, UsableCores.current.count),
        waiting: QueueLimits = QueueLimits(), owner: Owner? = nil
    ) throws -> Database {
        let metrics = DatabaseMetrics()
        return Database(
            metrics,
            .sqlite(
                try SQLiteEngine(
                    path: path, schema: schema, readers: readers, waiting: waiting, owner: owner, metrics: metrics)))
    }

    /// The callbacks of the process that keeps an SQLite file open.
    public struct Owner: Sendable {
        let looks: @Sendable (_ path: String) -> Void
        let damaged: @Sendable (DatabaseDamage) -> Void

        /// Creates an owner.
        ///
        /// - Parameters:
        ///   - looks: Called when the file is checked because of an unclean stop, which takes time.
        ///   - damaged: Called once when the file is found to be damaged, possibly on any thread.
        public init(
            looks: @escaping @Sendable (_ path: String) -> Void, damaged: @escaping @Sendable (DatabaseDamage) -> Void
        ) {
            self.looks = looks
            self.damaged = damaged
        }
    }

    /// Connects to PostgreSQL 15 or newer, and brings its schema up to date.
    ///
    /// - Parameters:
    ///   - url: A URL of the form `postgres://user@host/database`, with any parameter that libpq knows.
    ///   - pooler: The URL of a pooler of transactions in front of the same database, such as PgBouncer's. Transactions go
    ///     through it; what belongs to a connection, such as LISTEN, does not.
    ///   - replica: The URL of a standby, which answers reads from ``ReadPlace/replica`` while commits wait for it.
    ///   - bus: The way by which nodes tell each other what happened.
    ///   - namespace: The PostgreSQL schema for the tables; by default the API's name.
    ///   - connections: The number of transactions that run at the same time.
    ///   - waiting: The limits on waiting transactions.
    /// - Throws: ``DatabaseFailure/unavailable(_:)`` when there is no server, ``SchemaMismatch``, ``BusMismatch``, or a
    ///   `RedisError` when there is no Redis.
    public static func postgreSQL(
        url: String, pooler: String? = nil, replica: String? = nil, bus: AnnouncementBus = .postgreSQL,
        schema: Schema, namespace: String? = nil, connections: Int = 12, waiting: QueueLimits = QueueLimits()
    ) throws -> Database {
        let metrics = DatabaseMetrics()
        return Database(
            metrics,
            .postgreSQL(
                try PostgreSQLEngine(
                    url: url, pooler: pooler, replica: replica, bus: bus, schema: schema,
                    namespace: namespace ?? schema.namespace, connections: connections, waiting: waiting,
                    metrics: metrics)))
    }

    /// Makes sure that a PostgreSQL answers. It blocks.
    ///
    /// - Parameter isPooler: Whether the URL is that of a pooler of transactions.
    public static func reach(url: String, isPooler: Bool) throws {
        try PostgreSQLConnection(url: url, namespace: "public", isPooled: isPooler).simple("SELECT 1")
    }

    /// Reads the database of an API that a server may be using, and changes nothing. It blocks.
    ///
    /// - Parameters:
    ///   - url: The URL of a PostgreSQL; nil for an SQLite file.
    ///   - path: The path of the SQLite file.
    /// - Returns: Nil when there is no database, an older one, or none that can be read without creating files.
    /// - Throws: ``SchemaMismatch`` when this program cannot use it, or a ``DatabaseFailure``.
    package static func look<T>(
        url: String?, path: String, schema: Schema, _ body: (Session) throws -> T
    ) throws -> T? {
        func read(_ session: Session) throws -> T? { try schema.look(at: session) ? try body(session) : nil }
        guard let url else {
            guard access(path, F_OK) == 0 else { return nil }
            return try SQLiteFile.looking(at: path, read) ?? nil
        }
        let connection = try PostgreSQLConnection(url: url, namespace: schema.namespace)
        return try PostgreSQLEngine.transaction(on: connection, "BEGIN READ ONLY", reading: true) { session in
            let value = try read(session)
            try connection.commit()
            return value
        }
    }

    /// Runs a statement that cannot be in a transaction, such as `CREATE DATABASE`, on its own connection. It blocks.
    ///
    /// It is meant for tests. A server never creates or drops its database.
    package static func administer(url: String, _ statement: String) throws {
        try PostgreSQLConnection(url: url, namespace: "public").simple(statement)
    }

    /// Runs a script on an SQLite file, creating it when it does not exist. It blocks. It is meant for tests, which
    /// restore a dump with it.
    package static func administer(path: String, _ script: String) throws {
        try SQLiteEngine.administer(path: path, script)
    }

    /// The database that answers a read.
    public enum ReadPlace: Sendable {
        /// The database that takes writes. What decides about a write or keeps events in order is read there.
        case primary
        /// The replica, if there is one and commits wait for it now; else the primary. It shows what was acknowledged, and
        /// for a moment also what is about to be. The closure may run twice.
        case replica
    }

    /// Runs a closure that only reads, on one consistent state.
    public func read<T: Sendable>(
        from place: ReadPlace = .primary, _ body: @escaping @Sendable (Session) throws -> T
    ) async throws -> T {
        let start = ContinuousClock.now
        let span = span("database read")
        defer {
            metrics.reads.record(since: start)
            span?.end()
        }
        return switch engine {
        case .sqlite(let engine): try await engine.read(body)
        case .postgreSQL(let engine): try await engine.read(from: place, body)
        }
    }

    /// Begins a span when the current work is part of a trace.
    private func span(_ name: String) -> (any Span)? {
        guard let context = ServiceContext.current else { return nil }
        let span: any Span = InstrumentationSystem.tracer.startSpan(name, context: context, ofKind: .client)
        span.attributes["db.system.name"] = isShared ? "postgresql" : "sqlite"
        return span
    }

    /// Runs a closure that may write. The writes are durable when it returns, and have no effect when it throws.
    @discardableResult
    public func write<T: Sendable>(_ body: @escaping @Sendable (Session) throws -> T) async throws -> T {
        try await writing {
            switch engine {
            case .sqlite(let engine): try await engine.write(body)
            case .postgreSQL(let engine): try await engine.write(body)
            }
        }
    }

    /// Makes a write together with others of its kind, which is much cheaper on PostgreSQL. SQLite's writes share their
    /// transactions anyway.
    ///
    /// - Parameter shared: The writes of the kind (``sharing(_:)``); nil on SQLite.
    /// - Returns: Nil when the write has not been made, and has no effect: the caller makes it by ``write(_:)``.
    public func write<Input, Output>(_ input: Input, with shared: SharedWrites<Input, Output>?) async throws -> Output?
    {
        guard let shared else { return nil }
        return try await writing { try await shared.write(input) }
    }

    /// Returns the means to make writes of one kind together; nil on SQLite.
    public func sharing<Input, Output>(
        _ body: @escaping SharedWrites<Input, Output>.Body
    ) -> SharedWrites<Input, Output>? {
        guard case .postgreSQL(let engine) = engine else { return nil }
        return SharedWrites(engine, waiting: engine.waiting, metrics: metrics, body)
    }

    /// Runs a write, and records it.
    private func writing<T>(_ write: () async throws -> T) async throws -> T {
        let start = ContinuousClock.now
        let span = span("database write")
        defer {
            metrics.writes.record(since: start)
            span?.end()
        }
        do {
            let value = try await write()
            if isFull.withLockedValue({ $0 }) { isFull.withLockedValue { $0 = false } }
            return value
        } catch let failure as DatabaseFailure {
            if case .full = failure { isFull.withLockedValue { $0 = true } }
            span?.setStatus(.init(code: .error))
            throw failure
        }
    }

    /// The number of concurrent reads that one caller may have when reads may take long: two, and never all.
    public var readsOfOneCaller: Int {
        let all =
            switch engine {
            case .sqlite(let engine): engine.readerCount
            case .postgreSQL(let engine): engine.connectionCount
            }
        return max(1, min(2, all - 1))
    }

    /// Whether several nodes may use the database at the same time. Events then go through it:
    /// ``announce(from:_:)``.
    public var isShared: Bool { if case .postgreSQL = engine { true } else { false } }

    /// Throws when the database cannot answer, when it is known to be damaged, or when it has no space after a write
    /// that failed for that reason.
    public func check() async throws {
        if case .sqlite(let engine) = engine { try engine.requireSound() }
        _ = try await read { try $0.value("SELECT 1", as: Int64.self) }
        if isFull.withLockedValue({ $0 }) { try await write(Schema.probe) }
    }

    /// Whether nodes tell each other what happened by something else than the database.
    public var hasBusApart: Bool { if case .postgreSQL(let engine) = engine { engine.hasBusApart } else { false } }

    /// Throws when nodes tell each other what happened by something else than the database, and it does not answer. Events
    /// of other nodes then arrive late.
    public func checkBus() throws {
        if case .postgreSQL(let engine) = engine { try engine.checkBus() }
    }

    /// Whether there is a replica.
    public var hasReplica: Bool { if case .postgreSQL(let engine) = engine { engine.hasReplica } else { false } }

    /// Throws when there is a replica, and reads go to the primary for now; the error says why.
    public func checkReplica() throws {
        if case .postgreSQL(let engine) = engine { try engine.checkReplica() }
    }

    /// The queue, connections and files of the database at this moment. It looks at SQLite's files, so it blocks for a moment.
    package var load: DatabaseLoad {
        switch engine {
        case .sqlite(let engine): engine.load
        case .postgreSQL(let engine): engine.load
        }
    }

    /// Writes a copy of the database, as it is at one moment, to a file: an SQLite database, or an archive of `pg_dump`.
    /// Other transactions go on meanwhile.
    ///
    /// - Parameters:
    ///   - path: The path of the file, which does not exist yet.
    ///   - tools: The programs of PostgreSQL; SQLite needs none.
    ///   - progress: Called with the parts that are done and the number of all parts. On PostgreSQL it is never called.
    ///   - body: Reads the state that was copied.
    /// - Throws: ``DatabaseDamage`` when the copy is damaged, ``PostgreSQLToolError``, `CancellationError`.
    package func backUp<T: Sendable>(
        to path: String, using tools: PostgreSQLTools = .init(),
        showing progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in },
        reading body: @escaping @Sendable (Session) throws -> T
    ) async throws -> T {
        try await LongWork.run { [engine] isCancelled in
            switch engine {
            case .sqlite(let engine):
                try engine.backUp(to: path) { done, total in
                    if isCancelled() { throw CancellationError() }
                    progress(done, total)
                } reading: {
                    try body($0)
                }
            case .postgreSQL(let engine):
                try engine.backUp(to: path, using: tools.stopped(by: isCancelled)) { try body($0) }
            }
        }
    }

    /// The number of transactions that wait for their turn.
    package var waitingCount: Int {
        switch engine {
        case .sqlite(let engine): engine.waitingCount
        case .postgreSQL(let engine): engine.waitingCount
        }
    }

    /// Refuses all waiting and new transactions. On PostgreSQL it also ends those that wait for the server's answer, so
    /// that a server that hangs cannot delay a stop.
    public func refuseAll() {
        switch engine {
        case .sqlite(let engine): engine.refuseAll()
        case .postgreSQL(let engine): engine.refuseAll()
        }
    }

    /// Finishes running transactions, then closes the file.
    public func close() async throws {
        switch engine {
        case .sqlite(let engine): try await engine.close()
        case .postgreSQL(let engine): try await engine.close()
        }
    }
}
