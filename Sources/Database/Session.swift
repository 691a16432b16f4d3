import GRDB

/// One transaction, for as long as a `read` or `write` closure runs. Synchronous: the closure has a thread of its own.
public final class Session {
    private let connection: GRDB.Database
    private(set) var commitActions: [@Sendable () -> Void] = []

    init(_ connection: GRDB.Database) { self.connection = connection }

    /// Every row, mapped.
    public func all<T>(_ sql: SQL, _ map: (borrowing Row) throws -> T) throws -> [T] {
        try execute(sql) { statement in
            var results: [T] = []
            while try statement.step() { results.append(try map(statement.row)) }
            return results
        }
    }

    /// The first row, mapped, or nil. The statement runs to its end, so it may write and return what it wrote.
    public func one<T>(_ sql: SQL, _ map: (borrowing Row) throws -> T) throws -> T? {
        try execute(sql) { statement in
            guard try statement.step() else { return nil }
            let result = try map(statement.row)
            while try statement.step() {}
            return result
        }
    }

    /// The first column of the first row.
    public func value<T: SQLConvertible>(_ sql: SQL, as _: T.Type = T.self) throws -> T? {
        try one(sql) { try $0.get(0) }
    }

    /// Whether there is a row at all.
    public func exists(_ sql: SQL) throws -> Bool {
        try execute(sql) { try $0.step() }
    }

    /// Runs a statement, and tells how many rows it changed.
    @discardableResult
    public func run(_ sql: SQL) throws -> Int {
        try execute(sql) { statement in
            while try statement.step() {}
            return connection.changesCount
        }
    }

    /// Runs something once the transaction is durable, in the order of the commits, before the caller hears of it.
    ///
    /// This is where events are published. It never runs when the transaction fails. It must not block: the next
    /// commit waits for it.
    public func afterCommit(_ action: @escaping @Sendable () -> Void) {
        commitActions.append(action)
    }

    /// Takes back what an attempt has registered that is to be repeated.
    func takeCommitActions() -> [@Sendable () -> Void] {
        defer { commitActions = [] }
        return commitActions
    }

    /// The plan the engine would follow, a line a step: for tests that hold a hot query to its index.
    public func plan(of sql: SQL) throws -> [String] {
        try all("EXPLAIN QUERY PLAN \(sql)") { try $0.get(3) }
    }

    private func execute<T>(_ sql: SQL, _ body: (borrowing PreparedStatement) throws -> T) throws -> T {
        // The engine itself may have ended the transaction. What follows must not run outside of one.
        guard connection.isInsideTransaction else {
            throw DatabaseFailure.unavailable("the engine ended the transaction")
        }
        do {
            return try body(PreparedStatement(sql, on: connection))
        } catch let error as DatabaseError {
            throw DatabaseFailure(error)
        }
    }
}
