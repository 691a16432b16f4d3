/// A connection in the middle of a transaction: what a session needs of an engine.
protocol SessionConnection: AnyObject {
    var dialect: Dialect { get }
    /// Hands over row after row until there is none, or `false` comes back. The statement runs to its end either way.
    func query(_ sql: SQL, _ each: (borrowing Row) throws -> Bool) throws
    /// Likewise for two statements that are sent together, one after the other.
    func query(
        _ first: SQL, _ eachOfFirst: (borrowing Row) throws -> Bool, _ second: SQL,
        _ eachOfSecond: (borrowing Row) throws -> Bool) throws
    /// Runs a statement, and tells how many rows it changed.
    func execute(_ sql: SQL) throws -> Int
    func plan(of sql: SQL) throws -> [String]
    /// Tells every node, if the transaction commits.
    func announce(_ payload: String) throws
}

/// One transaction, for as long as a `read` or `write` closure runs. Synchronous: the closure has a thread of its own.
public final class Session {
    private let connection: any SessionConnection
    var dialect: Dialect { connection.dialect }
    private var commitActions: [@Sendable () -> Void] = []

    init(_ connection: any SessionConnection) { self.connection = connection }

    /// Every row, mapped.
    public func all<T>(_ sql: SQL, _ map: (borrowing Row) throws -> T) throws -> [T] {
        var results: [T] = []
        try connection.query(sql) { row in
            results.append(try map(row))
            return true
        }
        return results
    }

    /// The first row, mapped, or nil. The statement runs to its end, so it may write and return what it wrote.
    public func one<T>(_ sql: SQL, _ map: (borrowing Row) throws -> T) throws -> T? {
        var result: T?
        try connection.query(sql) { row in
            result = try map(row)
            return false
        }
        return result
    }

    /// The first column of the first row.
    public func value<T: SQLConvertible>(_ sql: SQL, as _: T.Type = T.self) throws -> T? {
        try one(sql) { try $0.get(0) }
    }

    /// Whether there is a row at all.
    public func exists(_ sql: SQL) throws -> Bool {
        try one(sql) { _ in true } ?? false
    }

    public func get<Value>(_ query: Query<Value>) throws -> Value {
        var value = query.initial
        try connection.query(query.sql) { try query.take(&value, $0) }
        return value
    }

    /// Runs two statements, neither of which needs what the other finds. On PostgreSQL they go one way together, which
    /// costs about what one of them does.
    public func both<A, B>(_ first: Query<A>, _ second: Query<B>) throws -> (A, B) {
        var (a, b) = (first.initial, second.initial)
        try connection.query(
            first.sql, { try first.take(&a, $0) }, second.sql, { try second.take(&b, $0) })
        return (a, b)
    }

    /// Runs a statement, and tells how many rows it changed.
    @discardableResult
    public func run(_ sql: SQL) throws -> Int { try connection.execute(sql) }

    /// Locks rows of a table until the transaction ends: another transaction that locks, changes or deletes one of them
    /// waits. What is read after this call holds until the end.
    ///
    /// SQLite has one writer at a time, so nothing needs to be locked there; the rows are only counted.
    ///
    /// - Parameter condition: Follows `WHERE`. Rows that are locked together are given an order (`… ORDER BY id`), so that
    ///   two transactions do not wait for each other.
    /// - Returns: The number of rows, counted once they are locked: none for a row that was deleted meanwhile.
    @discardableResult
    public func lock(_ table: SQL, where condition: SQL) throws -> Int {
        var count = 0
        try connection.query("SELECT 1 FROM \(table) WHERE \(condition)\(dialect.rowLock)") { _ in
            count += 1
            return true
        }
        return count
    }

    /// Locks a row until the transaction ends (``lock(_:where:)``), and returns columns of it as they are under the lock.
    ///
    /// - Returns: Nil when there is no such row.
    public func lock<T>(
        _ columns: SQL, from table: SQL, where condition: SQL, _ map: (borrowing Row) throws -> T
    ) throws -> T? {
        try one("SELECT \(columns) FROM \(table) WHERE \(condition)\(dialect.rowLock)", map)
    }

    /// Runs something once the transaction is durable, before the caller hears of it; on SQLite in the order of the
    /// commits.
    ///
    /// It never runs when the transaction fails. It must not block: the next commit waits for it.
    public func afterCommit(_ action: @escaping @Sendable () -> Void) {
        commitActions.append(action)
    }

    /// Tells every node that listens (``Database/listen(_:)``), once the transaction is durable, in the order of the
    /// commits.
    ///
    /// - Parameter payload: At most ``Database/maximumAnnouncement`` bytes.
    /// - Precondition: ``Database/isShared``.
    public func announce(_ payload: String) throws { try connection.announce(payload) }

    /// Takes what was registered: to run it, or to forget it before an attempt is repeated.
    func takeCommitActions() -> [@Sendable () -> Void] {
        defer { commitActions = [] }
        return commitActions
    }

    /// The plan the engine would follow, a line a step: for tests that hold a hot query to its index.
    public func plan(of sql: SQL) throws -> [String] { try connection.plan(of: sql) }
}
