import Foundation
import GRDB

/// The floor of durable messages: the statements of a send, in batches. Each batch is one transaction that is flushed
/// to the disk, and no client waits for an answer.
final class SQLiteFloor {
    /// The size of a batch. While one half of the connections waits for its commit, the other half queues for the next;
    /// the server was observed to commit 25 at a time.
    static let batch = Benchmark.connections / 2

    private let queue: DatabaseQueue
    private let (user, chat): (Int, Int)
    private var turns: [(rate: Double, cpu: Double)] = []

    /// - Parameter path: A database with Messenger's tables, the user and the chat.
    init(_ path: String, user: Int, chat: Int) throws {
        var configuration = Configuration()
        configuration.journalMode = .wal
        queue = try DatabaseQueue(path: path, configuration: configuration)
        (self.user, self.chat) = (user, chat)
        try queue.inDatabase { try $0.execute(sql: "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON") }
    }

    func run(for duration: Duration) throws {
        let (start, cpu) = (ContinuousClock.now, Self.cpu)
        var inserts = 0
        try queue.inDatabase { db in
            while ContinuousClock.now - start < duration {
                try db.cachedStatement(sql: "BEGIN IMMEDIATE TRANSACTION").execute()
                for _ in 0..<Self.batch { try insert(db) }
                try db.cachedStatement(sql: "COMMIT TRANSACTION").execute()
                inserts += Self.batch
            }
        }
        let elapsed = ContinuousClock.now - start
        turns.append((Double(inserts) / elapsed.inSeconds, (Self.cpu - cpu).inMicroseconds / Double(inserts)))
    }

    var rate: Double { turns.map(\.rate).median }
    /// The CPU time in microseconds for each message.
    var cpu: Double { turns.map(\.cpu).median }

    private func insert(_ db: GRDB.Database) throws {
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        let member = try db.cachedStatement(sql: "SELECT 1 FROM members WHERE chat_id = ? AND user_id = ?")
        guard try GRDB.Row.fetchOne(member, arguments: [chat, user]) != nil else { throw Failed("no member") }
        try db.cachedStatement(sql: "UPDATE chats SET updated_at = ? WHERE id = ?").execute(arguments: [now, chat])
        let insert = try db.cachedStatement(
            sql: """
                INSERT INTO messages (chat_id, sender_id, content, type, file_id, created_at)
                VALUES (?, ?, ?, ?, ?, ?) RETURNING id
                """)
        let content = "Shall we meet at seven, at the usual place by the river?"
        let id = try Int64.fetchOne(insert, arguments: [chat, user, content, "text", nil, now])
        let mark = try db.cachedStatement(
            sql: "UPDATE members SET last_read_id = ?, read_at = ? WHERE chat_id = ? AND user_id = ?")
        try mark.execute(arguments: [id, now, chat, user])
    }

    /// The CPU time of this process, which does nothing else meanwhile.
    private static var cpu: Duration {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage.cpu
    }
}
