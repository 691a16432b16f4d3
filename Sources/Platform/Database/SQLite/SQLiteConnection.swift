import GRDB
import GRDBSQLite

/// A connection to an SQLite file, with its statements prepared once and cached. One thread uses it at a time.
///
/// GRDB opens and closes it. Between the two SQLite is called directly, because GRDB's queue and statements cost several
/// times what the statements of a request do.
final class SQLiteConnection: SessionConnection, @unchecked Sendable {
    private let queue: DatabaseQueue
    private let handle: OpaquePointer
    private let watch: DamageWatch
    private var statements: [StatementShape: OpaquePointer] = [:]
    /// Whether a statement of the current transaction has failed, and the number of pages that had been written before the
    /// end of a transaction when it began.
    private var (hasFailed, spilledBefore) = (false, 0)
    var dialect: Dialect { .sqlite }

    init(_ queue: DatabaseQueue, _ watch: DamageWatch) throws {
        self.queue = queue
        self.watch = watch
        handle = try queue.inDatabase { db in
            guard let handle = db.sqliteConnection else { throw DatabaseFailure.unavailable("no connection") }
            // GRDB would observe statements and transactions that are not its own.
            sqlite3_set_authorizer(handle, nil, nil)
            sqlite3_commit_hook(handle, nil, nil)
            sqlite3_rollback_hook(handle, nil, nil)
            return handle
        }
    }

    deinit { finalize() }

    private func finalize() {
        for statement in statements.values { sqlite3_finalize(statement) }
        statements = [:]
    }

    func close() throws {
        finalize()
        try queue.close()
    }

    // MARK: Transactions

    private static let begin: SQL = "BEGIN DEFERRED TRANSACTION"
    private static let end: SQL = "COMMIT TRANSACTION"

    /// A counter that grows with every changed row.
    var changes: Int { Int(sqlite3_total_changes64(handle)) }
    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Notes that a transaction begins (``mustRollBack``).
    func noteBegin() { (hasFailed, spilledBefore) = (false, spilled) }

    /// Whether the transaction must not be committed. SQLite undoes a statement that fails in the way it rolls back to a
    /// savepoint, which may break the write-ahead log once pages have been written to it before the commit
    /// (``GroupCommit``).
    var mustRollBack: Bool { hasFailed && spilled != spilledBefore }

    /// The number of changed pages that were written before the end of a transaction, because they did not fit in memory.
    private var spilled: Int {
        var (count, highest) = (CInt(0), CInt(0))
        sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_SPILL, &count, &highest, 0)
        return Int(count)
    }

    /// Runs a closure in a transaction that reads one state.
    func read<T>(_ body: (Session) throws -> T) throws -> T {
        try beginReading()
        defer { endReading() }
        return try body(Session(self))
    }

    /// Begins a transaction that reads one state: that at its first statement.
    ///
    /// - Throws: ``DatabaseFailure``.
    func beginReading() throws {
        do {
            try run(Self.begin)
        } catch let error as DatabaseError {
            throw watch.failure(error)
        }
    }

    func endReading() { if isInTransaction { try? run(Self.end) } }

    /// Runs a closure in a transaction that may write.
    ///
    /// - Throws: `DatabaseError` when the transaction cannot begin or end.
    func write<T>(_ body: (Session) throws -> T) throws -> T {
        try run("BEGIN IMMEDIATE TRANSACTION")
        do {
            let value = try body(Session(self))
            try run("COMMIT TRANSACTION")
            return value
        } catch {
            if isInTransaction { try? run("ROLLBACK TRANSACTION") }
            throw error
        }
    }

    /// Runs a statement, also outside of a transaction.
    ///
    /// - Throws: `DatabaseError`.
    func run(_ sql: SQL) throws {
        let statement = try PreparedStatement(sql, on: self)
        while try statement.step() {}
    }

    /// Keeps a write-ahead log from now on. GRDB's setting would also make a table and drop it at each start, so that readers
    /// find a log: the migrations, which come before them, open it anyway.
    func keepLog() throws {
        let statement = try PreparedStatement("PRAGMA journal_mode = WAL", on: self)
        guard try statement.step(), try statement.row.get(0) == "wal" else {
            throw DatabaseFailure.unavailable("SQLite cannot keep a write-ahead log beside \(queue.path)")
        }
    }

    // MARK: Statements

    func query(_ sql: SQL, _ each: (borrowing Row) throws -> Bool) throws {
        try execute(sql) { statement in
            while try statement.step() {
                guard try !each(statement.row) else { continue }
                // A statement that writes must run to its end, because a constraint may still refuse it.
                while !statement.isReadOnly, try statement.step() {}
                return
            }
        }
    }

    func query(
        _ first: SQL, _ eachOfFirst: (borrowing Row) throws -> Bool, _ second: SQL,
        _ eachOfSecond: (borrowing Row) throws -> Bool
    ) throws {
        try query(first, eachOfFirst)
        try query(second, eachOfSecond)
    }

    func execute(_ sql: SQL) throws -> Int {
        try execute(sql) { statement in
            while try statement.step() {}
            return Int(sqlite3_changes64(handle))
        }
    }

    func insert(_ sql: SQL) throws -> Int64? {
        // RETURNING costs a table of its own, of some 150 kB.
        try execute(sql) > 0 ? sqlite3_last_insert_rowid(handle) : nil
    }

    func update(
        _ table: SQL, set changes: SQL, where key: SQL, if condition: SQL?, returning columns: SQL,
        _ body: (borrowing Row) throws -> Void
    ) throws {
        let update: SQL =
            if let condition {
                "UPDATE \(table) SET \(changes) WHERE \(key) AND \(condition)"
            } else {
                "UPDATE \(table) SET \(changes) WHERE \(key)"
            }
        guard try execute(update) > 0 else { return }
        try query("SELECT \(columns) FROM \(table) WHERE \(key)") { row in
            try body(row)
            return false
        }
    }

    func plan(of sql: SQL) throws -> [String] {
        var steps: [String] = []
        try query("EXPLAIN QUERY PLAN \(sql)") { row in
            steps.append(try row.get(3))
            return true
        }
        return steps
    }

    @inline(__always)
    private func execute<T>(_ sql: SQL, _ body: (borrowing PreparedStatement) throws -> T) throws -> T {
        // The engine may have ended the transaction by itself. Later statements must not run outside of one.
        guard isInTransaction else { throw DatabaseFailure.unavailable("the engine ended the transaction") }
        do {
            return try body(PreparedStatement(sql, on: self))
        } catch let error as DatabaseError {
            throw watch.failure(error)
        }
    }

    /// Returns the prepared statement, which stays prepared.
    func prepared(_ sql: SQL) throws -> OpaquePointer {
        let shape = StatementShape(of: sql)
        if let statement = statements[shape] { return statement }
        let text = sql.text
        var statement: OpaquePointer?
        var rest: UnsafePointer<CChar>?
        var isComplete = false
        let code = text.withCString { start in
            let code = sqlite3_prepare_v3(handle, start, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, &rest)
            isComplete = rest.map { String(cString: $0).allSatisfy { $0.isWhitespace || $0 == ";" } } ?? true
            return code
        }
        guard code == SQLITE_OK else { throw error(code, text) }
        guard let statement, isComplete else {
            sqlite3_finalize(statement)
            throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "this is not one statement", sql: text)
        }
        statements[shape.withoutValues] = statement
        return statement
    }

    /// Returns an error of the engine, and notes that there was one.
    func error(_ code: CInt, _ text: String) -> DatabaseError {
        hasFailed = true
        let message = sqlite3_errmsg(handle).map { String(cString: $0) }
        return DatabaseError(resultCode: ResultCode(rawValue: code), message: message, sql: text)
    }
}
