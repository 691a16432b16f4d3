import GRDB
import GRDBSQLite

/// A connection to an SQLite file, with its statements prepared once and cached by their text. One thread uses it at a
/// time.
///
/// GRDB opens and closes it. Between the two SQLite is called directly, because GRDB's queue and statements cost several
/// times what the statements of a request do.
final class SQLiteConnection: SessionConnection, @unchecked Sendable {
    private let queue: DatabaseQueue
    private let handle: OpaquePointer
    private let watch: DamageWatch
    private var statements: [StatementText: OpaquePointer] = [:]
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

    /// A counter that grows with every changed row.
    var changes: Int { Int(sqlite3_total_changes64(handle)) }
    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Runs a closure in a transaction that reads one state.
    func read<T>(_ body: (Session) throws -> T) throws -> T {
        do {
            try run("BEGIN DEFERRED TRANSACTION")
        } catch let error as DatabaseError {
            throw watch.failure(error)
        }
        defer { try? run("COMMIT TRANSACTION") }
        return try body(Session(self))
    }

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

    /// Runs a statement without values, also outside of a transaction.
    ///
    /// - Throws: `DatabaseError`.
    func run(_ text: String) throws {
        let statement = try PreparedStatement(text, [], on: self)
        while try statement.step() {}
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
            return try body(PreparedStatement(sql.text, sql.values, on: self))
        } catch let error as DatabaseError {
            throw watch.failure(error)
        }
    }

    /// Returns the statement of a text, which stays prepared.
    func prepared(_ text: String) throws -> OpaquePointer {
        let key = StatementText(text: text)
        if let statement = statements[key] { return statement }
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
        statements[key] = statement
        return statement
    }

    func error(_ code: CInt, _ text: String) -> DatabaseError {
        let message = sqlite3_errmsg(handle).map { String(cString: $0) }
        return DatabaseError(resultCode: ResultCode(rawValue: code), message: message, sql: text)
    }
}

/// The text of a statement, which is hashed by a few of its bytes: statements are few, their texts long, and each
/// execution looks for one.
private struct StatementText: Hashable {
    let text: String

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { bytes in
            hasher.combine(bytes.count)
            guard bytes.count >= 8 else { return hasher.combine(bytes: UnsafeRawBufferPointer(bytes)) }
            for quarter in 1...4 {
                let start = (bytes.count - 8) * quarter / 4
                hasher.combine(UnsafeRawPointer(bytes.baseAddress! + start).loadUnaligned(as: UInt64.self))
            }
        }
    }
}
