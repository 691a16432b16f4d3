import Foundation
import GRDB

/// One transaction, for as long as a `read` or `write` closure runs. Synchronous: the closure has a thread of its own.
public final class Session {
    private let connection: GRDB.Database
    private(set) var commitActions: [@Sendable () -> Void] = []

    init(_ connection: GRDB.Database) { self.connection = connection }

    /// Every row, mapped.
    public func all<T>(_ sql: SQL, _ map: (borrowing Row) throws -> T) throws -> [T] {
        try guarding {
            var results: [T] = []
            let cursor = try GRDB.Row.fetchCursor(prepare(sql), arguments: arguments(sql))
            while let row = try cursor.next() { results.append(try map(Row(row))) }
            return results
        }
    }

    /// The first row, mapped, or nil. The statement runs to its end, so it may write and return what it wrote.
    public func one<T>(_ sql: SQL, _ map: (borrowing Row) throws -> T) throws -> T? {
        try guarding {
            let cursor = try GRDB.Row.fetchCursor(prepare(sql), arguments: arguments(sql))
            guard let first = try cursor.next() else { return nil }
            let result = try map(Row(first))
            while try cursor.next() != nil {}
            return result
        }
    }

    /// The first column of the first row.
    public func value<T: SQLConvertible>(_ sql: SQL, as _: T.Type = T.self) throws -> T? {
        try one(sql) { try $0.get(0) }
    }

    /// Whether there is a row at all.
    public func exists(_ sql: SQL) throws -> Bool {
        try guarding { try GRDB.Row.fetchCursor(prepare(sql), arguments: arguments(sql)).next() != nil }
    }

    /// Runs a statement, and tells how many rows it changed.
    @discardableResult
    public func run(_ sql: SQL) throws -> Int {
        try guarding {
            try prepare(sql).execute(arguments: arguments(sql))
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
        let explained = try connection.cachedStatement(sql: "EXPLAIN QUERY PLAN " + sql.text)
        return try GRDB.Row.fetchAll(explained, arguments: arguments(sql)).map { $0["detail"] }
    }

    private func prepare(_ sql: SQL) throws -> Statement {
        try connection.cachedStatement(sql: sql.text)
    }

    private func arguments(_ sql: SQL) -> StatementArguments {
        StatementArguments(sql.values.map(\.databaseValue))
    }

    private func guarding<T>(_ body: () throws -> T) throws -> T {
        do {
            return try body()
        } catch let error as DatabaseError {
            throw DatabaseFailure(error)
        }
    }
}

extension SQLValue {
    fileprivate var databaseValue: DatabaseValue {
        switch self {
        case .null: .null
        case .integer(let value): value.databaseValue
        case .real(let value): value.databaseValue
        case .text(let value): value.databaseValue
        case .bytes(let value): Data(value).databaseValue
        }
    }
}
