import Foundation
import NIOConcurrencyHelpers

/// The database of one API.
///
/// `read` and `write` closures are transactions. They run on the engine's own threads, synchronously; a request makes
/// one of them, because the hop costs more than the query. A `write` closure may be run again when another that shares
/// its transaction fails: it must touch nothing but its session.
public final class Database: Sendable {
    private enum Engine {
        case sqlite(SQLiteEngine)
        case postgreSQL(PostgreSQLEngine)
    }

    private let engine: Engine
    /// Whether the last write failed for lack of space.
    private let isFull = NIOLockedValueBox(false)

    private init(_ engine: Engine) { self.engine = engine }

    /// Opens an SQLite file, making it when there is none, and brings its schema up to date.
    ///
    /// - Parameters:
    ///   - path: The file; its folder exists. Another process may write to it for a moment: transactions wait for each
    ///     other up to five seconds.
    ///   - readers: Connections that read side by side.
    ///   - waiting: How long transactions wait for their turn.
    ///   - owner: Given by the one process that keeps the file open. After a stop that was not clean, all of the file is
    ///     looked at before it is used.
    /// - Throws: ``SchemaMismatch`` for a database of a newer version or of another program, ``DatabaseDamage``.
    public static func sqlite(
        path: String, schema: Schema, readers: Int = max(2, ProcessInfo.processInfo.activeProcessorCount),
        waiting: Waiting = Waiting(), owner: Owner? = nil
    ) throws -> Database {
        Database(
            .sqlite(try SQLiteEngine(path: path, schema: schema, readers: readers, waiting: waiting, owner: owner)))
    }

    /// The process that keeps an SQLite file open, and what it is told.
    public struct Owner: Sendable {
        let looks: @Sendable (_ path: String) -> Void
        let damaged: @Sendable (DatabaseDamage) -> Void

        /// - Parameters:
        ///   - looks: Is told that the file is looked at, which takes time, because the stop before was not clean.
        ///   - damaged: Is told once that the file is damaged; it may be on any thread.
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
    ///   - url: `postgres://user@host/database`, with any parameter that libpq knows.
    ///   - namespace: The PostgreSQL schema for the tables; by default the API's name.
    ///   - connections: As many transactions run side by side.
    ///   - waiting: How long others wait for their turn.
    /// - Throws: ``DatabaseFailure/unavailable(_:)`` when there is no server, ``SchemaMismatch``.
    public static func postgreSQL(
        url: String, schema: Schema, namespace: String? = nil, connections: Int = 12,
        waiting: Waiting = Waiting()
    ) throws -> Database {
        Database(
            .postgreSQL(
                try PostgreSQLEngine(
                    url: url, schema: schema, namespace: namespace ?? schema.name.replacing("-", with: "_"),
                    connections: connections, waiting: waiting)))
    }

    /// Runs a statement that cannot be in a transaction, on a connection of its own: `CREATE DATABASE`. Blocks.
    ///
    /// For tests. A server never makes or drops the database that it was given.
    package static func administer(url: String, _ statement: String) throws {
        try PostgreSQLConnection(url: url, namespace: "public").simple(statement)
    }

    /// Runs a script on an SQLite file, which is made when there is none. Blocks. For tests: it restores a dump.
    package static func administer(path: String, _ script: String) throws {
        try SQLiteEngine.administer(path: path, script)
    }

    /// Runs a closure that only reads, on one consistent state.
    public func read<T: Sendable>(_ body: @escaping @Sendable (Session) throws -> T) async throws -> T {
        switch engine {
        case .sqlite(let engine): try await engine.read(body)
        case .postgreSQL(let engine): try await engine.read(body)
        }
    }

    /// Runs a closure that may write. Durable when it returns; without effect when it throws.
    @discardableResult
    public func write<T: Sendable>(_ body: @escaping @Sendable (Session) throws -> T) async throws -> T {
        do {
            let value =
                switch engine {
                case .sqlite(let engine): try await engine.write(body)
                case .postgreSQL(let engine): try await engine.write(body)
                }
            if isFull.withLockedValue({ $0 }) { isFull.withLockedValue { $0 = false } }
            return value
        } catch let failure as DatabaseFailure {
            if case .full = failure { isFull.withLockedValue { $0 = true } }
            throw failure
        }
    }

    /// How many of its reads at once may be one caller's, where they may take long: two, and never all of them.
    public var readsOfOneCaller: Int {
        let all =
            switch engine {
            case .sqlite(let engine): engine.readerCount
            case .postgreSQL(let engine): engine.connectionCount
            }
        return max(1, min(2, all - 1))
    }

    /// Whether several nodes may use it at once. Events then go through it: ``Session/announce(_:)``.
    public var isShared: Bool { if case .postgreSQL = engine { true } else { false } }

    /// PostgreSQL carries less than 8,000 bytes.
    public static let maximumAnnouncement = 7900

    /// Hears what is announced, on every node, until the task is cancelled. Ends at once for a database with one node.
    public func listen(_ handler: @escaping @Sendable (Announcement) async -> Void) async {
        guard case .postgreSQL(let engine) = engine else { return }
        let (announcements, continuation) = AsyncStream<Announcement>.makeStream()
        let listener = engine.listen { continuation.yield($0) }
        for await announcement in announcements { await handler(announcement) }
        listener.stop()
    }

    /// Throws when the database cannot answer, is known to be damaged, or has no space still after a write that failed for
    /// it.
    public func check() async throws {
        if case .sqlite(let engine) = engine { try engine.requireSound() }
        _ = try await read { try $0.value("SELECT 1", as: Int64.self) }
        if isFull.withLockedValue({ $0 }) { try await write(Schema.probe) }
    }

    /// How many transactions wait for their turn.
    package var waitingCount: Int {
        switch engine {
        case .sqlite(let engine): engine.waitingCount
        case .postgreSQL(let engine): engine.waitingCount
        }
    }

    /// Refuses all that waits and all that comes. On PostgreSQL what waits for the server's answer ends, too: a server
    /// that hangs keeps nobody.
    public func refuseAll() {
        switch engine {
        case .sqlite(let engine): engine.refuseAll()
        case .postgreSQL(let engine): engine.refuseAll()
        }
    }

    /// Finishes what was begun, then lets go of the file.
    public func close() async throws {
        switch engine {
        case .sqlite(let engine): try await engine.close()
        case .postgreSQL(let engine): try await engine.close()
        }
    }
}
