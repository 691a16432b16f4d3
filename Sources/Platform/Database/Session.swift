/// A connection inside a transaction, with the operations that a session needs.
protocol SessionConnection: AnyObject {
    var dialect: Dialect { get }
    /// Calls the closure for each row until there is none, or until it returns `false`. The statement runs to its end
    /// in both cases.
    func query(_ sql: SQL, _ each: (borrowing Row) throws -> Bool) throws
    /// Does the same for two statements that are sent together, one after the other.
    func query(
        _ first: SQL, _ eachOfFirst: (borrowing Row) throws -> Bool, _ second: SQL,
        _ eachOfSecond: (borrowing Row) throws -> Bool) throws
    /// Does the same for the last statement of a transaction, which it may end.
    func queryLast(_ sql: SQL, _ each: (borrowing Row) throws -> Bool) throws
    /// Does the same for the last two.
    func queryLast(
        _ first: SQL, _ eachOfFirst: (borrowing Row) throws -> Bool, _ second: SQL,
        _ eachOfSecond: (borrowing Row) throws -> Bool) throws
    /// Runs a statement, and returns the number of changed rows.
    func execute(_ sql: SQL) throws -> Int
    /// Runs an `INSERT` of one row, and returns its `id`; nil when it was not inserted.
    func insert(_ sql: SQL) throws -> Int64?
    /// Changes a row, and calls the closure with it as it is afterwards (``Session/update(_:set:where:if:returning:_:)``).
    func update(
        _ table: SQL, set changes: SQL, where key: SQL, if condition: SQL?, returning columns: SQL,
        _ body: (borrowing Row) throws -> Void) throws
    func plan(of sql: SQL) throws -> [String]
}

extension SessionConnection {
    func queryLast(_ sql: SQL, _ each: (borrowing Row) throws -> Bool) throws { try query(sql, each) }

    func queryLast(
        _ first: SQL, _ eachOfFirst: (borrowing Row) throws -> Bool, _ second: SQL,
        _ eachOfSecond: (borrowing Row) throws -> Bool
    ) throws {
        try query(first, eachOfFirst, second, eachOfSecond)
    }
}

/// One transaction, which lasts as long as a `read` or `write` closure runs. It is synchronous, because the closure has
/// a thread of its own.
public final class Session {
    private let connection: any SessionConnection
    var dialect: Dialect { connection.dialect }
    /// Whether no other transaction can write before this one ends, as on SQLite.
    package var isOnlyWriter: Bool { dialect == .sqlite }
    private var commitActions: [@Sendable () -> Void] = []

    init(_ connection: any SessionConnection) { self.connection = connection }

    /// The words behind a text that compare it by its bytes, as the index of an expression with `{BYTEWISE}` does.
    public var bytewise: SQL {
        switch dialect {
        case .sqlite: ""
        case .postgreSQL: #"COLLATE "C""#
        }
    }

    /// Returns every row, mapped.
    public func all<T>(_ sql: SQL, _ map: (borrowing Row) throws -> T) throws -> [T] {
        var results: [T] = []
        try connection.query(sql) { row in
            results.append(try map(row))
            return true
        }
        return results
    }

    /// Returns the first row, mapped, or nil. The statement runs to its end, so it may write and return what it wrote.
    public func one<T>(_ sql: SQL, _ map: (borrowing Row) throws -> T) throws -> T? {
        var result: T?
        try connection.query(sql) { row in
            result = try map(row)
            return false
        }
        return result
    }

    /// Returns the first column of the first row.
    public func value<T: SQLConvertible>(_ sql: SQL, as _: T.Type = T.self) throws -> T? {
        try one(sql) { try $0.get(0) }
    }

    /// Returns whether there is a row.
    public func exists(_ sql: SQL) throws -> Bool {
        try one(sql) { _ in true } ?? false
    }

    public func get<Value>(_ query: Query<Value>) throws -> Value {
        var value = query.initial
        try connection.query(query.sql) { try query.take(&value, $0) }
        return value
    }

    /// Runs the last statement of a read or a write. On PostgreSQL the end of the transaction shares its round trip, and a
    /// read of this statement alone needs none. It must be the last statement; do not throw after it, the commit may have
    /// happened.
    public func finish<Value>(_ query: Query<Value>) throws -> Value {
        var value = query.initial
        try connection.queryLast(query.sql) { try query.take(&value, $0) }
        return value
    }

    /// Runs the last two statements of a transaction (``both(_:_:)``, ``finish(_:)``).
    public func finish<A, B>(_ first: Query<A>, _ second: Query<B>) throws -> (A, B) {
        var (a, b) = (first.initial, second.initial)
        try connection.queryLast(
            first.sql, { try first.take(&a, $0) }, second.sql, { try second.take(&b, $0) })
        return (a, b)
    }

    /// Runs two statements, neither of which depends on the other's result. On PostgreSQL they share one round trip,
    /// which costs about as much as one of them.
    public func both<A, B>(_ first: Query<A>, _ second: Query<B>) throws -> (A, B) {
        var (a, b) = (first.initial, second.initial)
        try connection.query(
            first.sql, { try first.take(&a, $0) }, second.sql, { try second.take(&b, $0) })
        return (a, b)
    }

    /// Runs a statement, and returns the number of changed rows.
    @discardableResult
    public func run(_ sql: SQL) throws -> Int { try connection.execute(sql) }

    /// Inserts a row into a table whose key is a generated `id`, and returns the id.
    ///
    /// - Parameter sql: An `INSERT` without `RETURNING`, which costs SQLite several times what the row itself does.
    /// - Returns: Nil when the statement has inserted nothing, by `ON CONFLICT … DO NOTHING`.
    public func insert<ID: RawRepresentable<Int64>>(_ sql: SQL) throws -> ID? {
        try connection.insert(sql).flatMap(ID.init(rawValue:))
    }

    public func insert(_ sql: SQL) throws -> Int? { try connection.insert(sql).map(Int.init) }

    /// Changes one row, and returns columns of it as they are afterwards, mapped.
    ///
    /// - Parameters:
    ///   - changes: The text after `SET`.
    ///   - key: A condition that one row meets, before and after the change.
    ///   - condition: What the row must meet besides, before the change.
    /// - Returns: Nil when there is no such row.
    public func update<T>(
        _ table: SQL, set changes: SQL, where key: SQL, if condition: SQL? = nil, returning columns: SQL,
        _ map: (borrowing Row) throws -> T
    ) throws -> T? {
        var result: T?
        try connection.update(table, set: changes, where: key, if: condition, returning: columns) {
            result = try map($0)
        }
        return result
    }

    /// Locks rows of a table until the transaction ends: other transactions that lock, change or delete one of them
    /// wait. So what is read after this call stays true until the end.
    ///
    /// SQLite has one writer at a time, so nothing needs to be locked there; the rows are only counted.
    ///
    /// - Parameter condition: The text after `WHERE`. Rows that are locked together need an order (`… ORDER BY id`), to
    ///   avoid deadlocks.
    /// - Returns: The number of locked rows; a row that was deleted in the meantime does not count.
    @discardableResult
    public func lock(_ table: SQL, where condition: SQL) throws -> Int {
        var count = 0
        try connection.query("SELECT 1 FROM \(table) WHERE \(condition)\(dialect.rowLock)") { _ in
            count += 1
            return true
        }
        return count
    }

    /// Locks a row until the transaction ends (``lock(_:where:)``), and returns columns of it with their values under
    /// the lock.
    ///
    /// - Returns: The result of `map`; nil when there is no such row.
    public func lock<T>(
        _ columns: SQL, from table: SQL, where condition: SQL, _ map: (borrowing Row) throws -> T
    ) throws -> T? {
        try one("SELECT \(columns) FROM \(table) WHERE \(condition)\(dialect.rowLock)", map)
    }

    /// Runs an action once the transaction is durable, before the caller resumes; on SQLite in the order of the
    /// commits.
    ///
    /// The action never runs when the transaction fails. It must not block, because the next transaction waits for it.
    public func afterCommit(_ action: @escaping @Sendable () -> Void) {
        commitActions.append(action)
    }

    /// Removes and returns the registered actions, to run them, or to drop them before an attempt is repeated.
    func takeCommitActions() -> [@Sendable () -> Void] {
        defer { commitActions = [] }
        return commitActions
    }

    /// Returns the engine's plan, one line for each step, for tests that require an index for a frequent query.
    public func plan(of sql: SQL) throws -> [String] { try connection.plan(of: sql) }
}
