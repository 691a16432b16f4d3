import GRDB

/// The statements of an SQLite connection, prepared once and cached by their text.
final class SQLiteStatements: SessionConnection {
    private let db: GRDB.Database
    private let watch: DamageWatch
    var dialect: Dialect { .sqlite }

    init(_ db: GRDB.Database, _ watch: DamageWatch) {
        self.db = db
        self.watch = watch
    }

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
            return db.changesCount
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

    private func execute<T>(_ sql: SQL, _ body: (borrowing PreparedStatement) throws -> T) throws -> T {
        // The engine may have ended the transaction by itself. Later statements must not run outside of one.
        guard db.isInsideTransaction else { throw DatabaseFailure.unavailable("the engine ended the transaction") }
        do {
            return try body(PreparedStatement(sql, on: db))
        } catch let error as DatabaseError {
            throw watch.failure(error)
        }
    }
}
