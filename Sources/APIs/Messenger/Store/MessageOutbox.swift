import ContractClient
import Foundation
import GRDB
import MessengerAPI

/// The messages that are not sent yet, in a file of their own. Each function is one transaction, which is on the disk when
/// it returns.
struct MessageOutbox: Sendable {
    /// A message on its way.
    struct Entry {
        let id: Int64
        let chat: Messenger.Chat.ID
        /// The `Idempotency-Key` of the send, made with the entry and thus before the first attempt.
        let key: String
        let content: String
        let type: Messenger.MessageType
        let filename: String?
        let contentType: String?
        /// The `Idempotency-Key` of the upload, which is also the name of the file's copy; nil without a file.
        let fileKey: String?
        let file: Messenger.File.ID?
        let state: String
        let createdAt: Int64
        /// The time of the first attempt under the key; nil before it.
        let attemptedAt: Int64?
        /// The newest message of the chat that was known at the first attempt.
        let after: Messenger.Message.ID?
        let message: Messenger.Message.ID?
        let failure: OutgoingFailure?
    }

    let pool: DatabasePool

    init(at url: URL, user: Int64, _ database: Configuration) throws {
        pool = try StoreFile.open(url, StoreSchema.outbox, isDurable: true, user: user, database)
        let isWhole = try pool.read { try String.fetchOne($0, sql: "PRAGMA quick_check(1)") } == "ok"
        guard isWhole else { throw StoreFileUnusable() }
        try pool.write { try $0.execute(sql: "UPDATE entries SET state = 'waiting' WHERE state = 'sending'") }
    }

    // MARK: Adding

    /// Adds a message.
    ///
    /// - Parameter file: The name, the type and the key of its file.
    func add(
        _ content: String, _ type: Messenger.MessageType, to chat: Messenger.Chat.ID, key: String,
        file: (name: String, type: String, key: String)?, at now: Int64
    ) throws -> Int64 {
        try pool.write { db in
            try db.execute(
                literal: """
                    INSERT INTO entries (chat, key, content, type, file_name, file_type, file_key, state, created_at)
                    VALUES (\(chat.rawValue), \(key), \(content), \(type.rawValue), \(file?.name), \(file?.type),
                        \(file?.key), 'waiting', \(now))
                    """)
            return db.lastInsertedRowID
        }
    }

    // MARK: Reading

    func entries(in chat: Messenger.Chat.ID) throws -> [Entry] { try all("chat = \(chat.rawValue)") }
    func entry(_ id: Int64) throws -> Entry? { try all("id = \(id)").first }
    func everything() throws -> [Entry] { try all("TRUE") }

    /// Returns the messages of a chat that the server has, and that the history on this device has not reached.
    func sentEntries(in chat: Messenger.Chat.ID) throws -> [Entry] {
        try all("chat = \(chat.rawValue) AND message IS NOT NULL")
    }

    /// Returns the message of a chat that is next to be sent.
    func next(in chat: Messenger.Chat.ID) throws -> Entry? {
        try all("chat = \(chat.rawValue) AND state = 'waiting'").first
    }

    func waitingChats() throws -> [Messenger.Chat.ID] {
        try pool.read { db in
            try Int64.fetchAll(db, sql: "SELECT DISTINCT chat FROM entries WHERE state = 'waiting' ORDER BY chat")
                .map { .init($0) }
        }
    }

    private func all(_ condition: SQL) throws -> [Entry] {
        try pool.read { db in
            try Row.fetchAll(db, literal: "SELECT * FROM entries WHERE \(condition) ORDER BY id").map { row in
                Entry(
                    id: row["id"], chat: .init(row["chat"]), key: row["key"], content: row["content"],
                    type: .init(rawValue: row["type"]), filename: row["file_name"], contentType: row["file_type"],
                    fileKey: row["file_key"], file: (row["file"] as Int64?).map { .init($0) }, state: row["state"],
                    createdAt: row["created_at"], attemptedAt: row["attempted_at"],
                    after: (row["after_message"] as Int64?).map { .init($0) },
                    message: (row["message"] as Int64?).map { .init($0) },
                    failure: (row["failure"] as String?).flatMap {
                        try? JSONDecoder().decode(OutgoingFailure.self, from: Data($0.utf8))
                    })
            }
        }
    }

    // MARK: Sending

    func isSending(_ entry: Entry) throws { try set(entry.id, "state = 'sending'") }
    func isWaiting(_ entry: Entry) throws { try set(entry.id, "state = 'waiting'") }

    /// Records the first attempt under the entry's key, before it is made.
    ///
    /// - Parameter newest: The newest known message of the chat.
    /// - Returns: The entry with the attempt.
    func begin(_ entry: Entry, newest: Messenger.Message.ID, at now: Int64) throws {
        try pool.write { db in
            let sent = try Int64.fetchOne(db, literal: "SELECT message FROM sent WHERE chat = \(entry.chat.rawValue)")
            try db.execute(
                literal: """
                    UPDATE entries SET attempted_at = COALESCE(attempted_at, \(now)),
                        after_message = COALESCE(after_message, \(max(newest.rawValue, sent ?? 0)))
                    WHERE id = \(entry.id)
                    """)
        }
    }

    /// Records the file that has been uploaded for an entry, or forgets it when the server no longer has it.
    func uploaded(_ file: Messenger.File.ID?, for entry: Entry) throws {
        try set(entry.id, "file = \(file?.rawValue)")
    }

    func sent(_ entry: Entry, as message: Messenger.Message.ID) throws {
        try pool.write { db in
            try db.execute(
                literal: """
                    UPDATE entries SET state = 'sent', message = \(message.rawValue), failure = NULL
                    WHERE id = \(entry.id)
                    """)
            try db.execute(
                literal: """
                    INSERT INTO sent VALUES (\(entry.chat.rawValue), \(message.rawValue))
                    ON CONFLICT (chat) DO UPDATE SET message = MAX(message, excluded.message)
                    """)
        }
    }

    func fail(_ entry: Entry, _ failure: OutgoingFailure) throws {
        let text = String(decoding: try JSONEncoder().encode(failure), as: UTF8.self)
        try set(entry.id, "state = 'failed', failure = \(text)")
    }

    /// Has an entry sent under a new key, as if it had never been attempted.
    func restart(_ entry: Entry) throws {
        let key = UUID().uuidString.lowercased()
        try set(
            entry.id,
            "state = 'waiting', failure = NULL, key = \(key), attempted_at = NULL, after_message = NULL")
    }

    private func set(_ id: Int64, _ change: SQL) throws {
        try pool.write { try $0.execute(literal: "UPDATE entries SET \(change) WHERE id = \(id)") }
    }

    /// Removes an entry that the app does not want to be sent any more.
    func remove(_ id: Int64) throws {
        try pool.write { try $0.execute(literal: "DELETE FROM entries WHERE id = \(id)") }
    }
}
