import Foundation
import GRDB

/// A database on one connection of its own, for work that takes long. Nothing limits the time of its transactions, and
/// foreign keys are not checked on SQLite. It belongs to one thread.
final class SoleConnection {
    private enum Engine {
        case sqlite(SQLiteConnection)
        case postgreSQL(PostgreSQLConnection)
    }

    private let engine: Engine

    /// Opens an SQLite file, which exists.
    init(path: String) throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.busyMode = .timeout(5)
        configuration.journalMode = .wal
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        engine = .sqlite(try SQLiteConnection(queue, DamageWatch(path: path) { _ in }))
    }

    init(url: String, namespace: String) throws {
        engine = .postgreSQL(try PostgreSQLConnection(url: url, namespace: namespace, isPatient: true))
    }

    /// Runs a closure in a transaction that reads.
    func read<T>(_ body: (Session) throws -> T) throws -> T {
        switch engine {
        case .sqlite: return try write(body)
        case .postgreSQL(let connection):
            return try PostgreSQLEngine.transaction(on: connection, "BEGIN READ ONLY") { session in
                let value = try body(session)
                connection.endReading()
                return value
            }
        }
    }

    /// Runs a closure in a transaction.
    func write<T>(_ body: (Session) throws -> T) throws -> T {
        switch engine {
        case .sqlite(let connection): return try connection.write(body)
        case .postgreSQL(let connection): return try PostgreSQLEngine.write(on: connection, body).0
        }
    }

    /// Runs a statement that needs no result and cannot be in a transaction.
    func administer(_ statement: String) throws {
        switch engine {
        case .sqlite(let connection): try connection.run(SQL(trusted: statement))
        case .postgreSQL(let connection): try connection.simple(statement)
        }
    }

    /// Writes the log into an SQLite file, and closes it.
    func close() throws {
        if case .sqlite(let connection) = engine { try connection.close() }
    }
}
