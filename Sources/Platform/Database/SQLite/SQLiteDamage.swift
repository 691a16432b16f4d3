import Foundation
import GRDB
import NIOConcurrencyHelpers

/// The error for a damaged SQLite file, described for the operator.
public struct DatabaseDamage: Error, CustomStringConvertible {
    /// The path of the file.
    public let path: String
    /// The engine's message.
    public let reason: String

    /// The damaged file, the symptom, and what to do.
    public var description: String {
        """
        The database \(path) is damaged (\(reason)). Nothing more is written to it. Stop the server, move the file away \
        with its -wal and -shm, and put a backup in its place; without one, save what can be read: \
        sqlite3 damaged.sqlite .recover | sqlite3 '\(path)'
        """
    }
}

/// Notices that an SQLite file is damaged. After that this process writes nothing more to it.
final class DamageWatch: Sendable {
    private let path: String
    private let report: @Sendable (DatabaseDamage) -> Void
    private let found = NIOLockedValueBox<DatabaseDamage?>(nil)

    init(path: String, report: @escaping @Sendable (DatabaseDamage) -> Void) {
        self.path = path
        self.report = report
    }

    var damage: DatabaseDamage? { found.withLockedValue { $0 } }

    /// Returns the failure for an engine's error. The first error that means damage is reported.
    func failure(_ error: DatabaseError) -> DatabaseFailure {
        guard error.isDamage else { return DatabaseFailure(error) }
        let damage = DatabaseDamage(path: path, reason: error.words)
        let isFirst = found.withLockedValue { found in
            defer { found = found ?? damage }
            return found == nil
        }
        if isFirst { report(damage) }
        return .damaged(damage.description)
    }

    /// Throws once damage has been noticed.
    func requireSound() throws {
        if let damage { throw DatabaseFailure.damaged(damage.description) }
    }

    /// Opens the file, and describes damage that is noticed while opening.
    func opening<T>(_ body: () throws -> T) throws -> T {
        do {
            return try body()
        } catch let error as DatabaseError where error.isDamage {
            throw DatabaseDamage(path: path, reason: error.words)
        } catch DatabaseFailure.damaged(let text) {
            throw damage ?? DatabaseDamage(path: path, reason: text)
        }
    }
}

extension DatabaseError {
    fileprivate var isDamage: Bool { [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(resultCode) }
    fileprivate var words: String { "SQLite error \(extendedResultCode.rawValue): \(message ?? "no message")" }
}

/// Records that a file was closed cleanly, in a small file beside it. The record is created at the end of a stop, with
/// the size and the time of the database, and removed before the database is opened.
struct CleanStop {
    let path: String
    private var marker: String { path + "-clean" }

    /// Returns whether the file is unchanged since a clean stop. A file that does not exist or is empty needs no check.
    ///
    /// It also removes the record: the next start finds it only if this process writes it again.
    func wasClean() -> Bool {
        let noted = try? String(contentsOfFile: marker, encoding: .utf8)
        unlink(marker)
        guard let state, state.size > 0 else { return true }
        return noted == state.text && (Self.size(of: path + "-wal") ?? 0) == 0
    }

    /// Records that the file is closed.
    func note() {
        guard let state else { return }
        let descriptor = open(marker, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let bytes = Array(state.text.utf8)
        // A partly written record does not match, and the next start checks the database.
        _ = write(descriptor, bytes, bytes.count)
    }

    private var state: (size: Int64, text: String)? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        #if canImport(Darwin)
        let time = status.st_mtimespec
        #else
        let time = status.st_mtim
        #endif
        return (Int64(status.st_size), "\(status.st_size) \(time.tv_sec).\(time.tv_nsec)\n")
    }

    private static func size(of path: String) -> Int64? {
        var status = stat()
        return lstat(path, &status) == 0 ? Int64(status.st_size) : nil
    }
}

extension GRDB.Database {
    /// Throws ``DatabaseDamage`` unless all pages and rows of the file can be read. It reads the whole file.
    func quickCheck(_ path: String) throws {
        let findings = try String.fetchAll(self, sql: "PRAGMA quick_check(3)")
        guard findings == ["ok"] else {
            throw DatabaseDamage(path: path, reason: findings.joined(separator: "; ").replacing("\n", with: " "))
        }
    }
}
