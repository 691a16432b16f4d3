import Foundation

/// The database of one API.
///
/// `read` and `write` closures are transactions. They run on the engine's own threads, synchronously; a request makes
/// one of them, because the hop costs more than the query. A `write` closure may be run again when another that shares
/// its transaction fails: it must touch nothing but its session.
public final class Database: Sendable {
    private let engine: SQLiteEngine

    private init(_ engine: SQLiteEngine) { self.engine = engine }

    /// Opens an SQLite file, making it when there is none, and brings its schema up to date.
    ///
    /// - Parameters:
    ///   - path: The file; its folder exists. No other process may write to it.
    ///   - readers: Connections that read side by side.
    /// - Throws: ``SchemaMismatch`` for a database of a newer version or of another program.
    public static func sqlite(
        path: String, schema: Schema, readers: Int = max(2, ProcessInfo.processInfo.activeProcessorCount)
    ) throws -> Database {
        Database(try SQLiteEngine(path: path, schema: schema, readers: readers))
    }

    /// Runs a closure that only reads, on one consistent state.
    public func read<T: Sendable>(_ body: @escaping @Sendable (Session) throws -> T) async throws -> T {
        try await engine.read(body)
    }

    /// Runs a closure that may write. Durable when it returns; without effect when it throws.
    @discardableResult
    public func write<T: Sendable>(_ body: @escaping @Sendable (Session) throws -> T) async throws -> T {
        try await engine.write(body)
    }

    /// Throws when the database cannot answer.
    public func check() async throws {
        _ = try await read { try $0.value("SELECT 1", as: Int64.self) }
    }

    /// Finishes what was begun, then lets go of the file.
    public func close() async throws { try await engine.close() }
}
