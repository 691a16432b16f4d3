import CSQLite
import Foundation
import GRDB
import GRDBSQLite

/// An SQLite file that no server has open: the copy in a backup.
enum SQLiteFile {
    /// The pages that are copied at a time: 4 MiB.
    private static let step: CInt = 1024

    /// Copies a database, which others may use, as it is at one moment. It blocks.
    ///
    /// The copy is a single file without a log. It is on the disk when this returns.
    static func copy(
        _ path: String, to copy: String, _ progress: @escaping (_ done: Int, _ total: Int) throws -> Void
    ) throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        let target = try DatabaseQueue(path: copy, configuration: configuration)
        configuration.readonly = true
        let source = try DatabaseQueue(path: path, configuration: configuration)
        try source.inDatabase { source in
            // Without a transaction, the copy would begin anew with each commit of another connection.
            try source.execute(sql: "BEGIN DEFERRED TRANSACTION; SELECT count(*) FROM sqlite_master")
            defer { try? source.execute(sql: "COMMIT TRANSACTION") }
            try target.writeWithoutTransaction { target in
                // A copy that is interrupted is thrown away, and a complete one is flushed at the end.
                try target.execute(sql: "PRAGMA synchronous = OFF")
                try source.backup(to: target, pagesPerStep: step) { state in
                    try progress(state.completedPageCount, state.totalPageCount)
                    // Others need the disk and the processor, too.
                    usleep(500)
                }
            }
        }
        try source.close()
        try target.close()
        // The pages say that there is a log, as there was at the source.
        let single = try DatabaseQueue(path: copy, configuration: Configuration())
        try single.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = DELETE") }
        try single.close()
        let descriptor = open(copy, O_RDONLY | O_CLOEXEC)
        defer { if descriptor >= 0 { close(descriptor) } }
        guard descriptor >= 0, fsync(descriptor) == 0 else {
            throw DatabaseFailure.unavailable("\(copy): \(String(cString: strerror(errno)))")
        }
    }

    /// The checks of a file before it is read.
    enum Check: String {
        /// Whether all pages and rows can be read.
        case quick = "quick_check"
        /// Whether the indexes agree with the rows, too.
        case full = "integrity_check"
    }

    /// Whether `file:` begins a URI in this process. That can be chosen before the first connection alone.
    private static let takesURIs = concord_sqlite_with_uris() == SQLITE_OK

    /// Reads a database that another process may use, and creates no file beside it.
    ///
    /// - Returns: Nil when it cannot be read so: SQLite was used before in this process, or the log has no index.
    static func looking<T>(at path: String, _ body: (Session) throws -> T) throws -> T? {
        let files = FileManager.default
        let hasLog = files.fileExists(atPath: path + "-wal")
        guard hasLog ? files.fileExists(atPath: path + "-shm") : takesURIs else { return nil }
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        // SQLite would create a log for a database that nobody uses, and not remove it again.
        let place =
            hasLog
            ? path
            : "file:" + (path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? path) + "?immutable=1"
        let queue = try DatabaseQueue(path: place, configuration: configuration)
        let connection = try SQLiteConnection(queue, DamageWatch(path: path) { _ in })
        let value = try connection.read(body)
        try connection.close()
        return value
    }

    /// Reads a file on a connection that cannot write.
    ///
    /// - Throws: ``DatabaseDamage``.
    static func reading<T>(_ path: String, check: Check, _ body: (Session) throws -> T) throws -> T {
        let watch = DamageWatch(path: path) { _ in }
        return try watch.opening {
            var configuration = Configuration()
            configuration.readonly = true
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            let findings = try queue.inDatabase { db in
                try String.fetchAll(db, sql: "PRAGMA \(check.rawValue)(3)")
            }
            guard findings == ["ok"] else {
                throw DatabaseDamage(path: path, reason: findings.joined(separator: "; "))
            }
            let connection = try SQLiteConnection(queue, watch)
            let value = try connection.read(body)
            try connection.close()
            return value
        }
    }
}
