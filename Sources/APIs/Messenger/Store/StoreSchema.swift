import Foundation
import GRDB

/// The tables of a store's two files.
///
/// `cache.sqlite` has what the server knows too: it may be thrown away at any time and is read again. `outbox.sqlite` has
/// what only this device knows, the messages that are not sent yet. It is a file of its own, small and written to the
/// disk with each change, so that damage to the large file costs no message.
enum StoreSchema {
    static let cache: DatabaseMigrator = {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { db in
            try db.execute(
                sql: """
                    CREATE TABLE owner (user INTEGER NOT NULL);
                    CREATE TABLE chats (
                        id INTEGER PRIMARY KEY, type TEXT NOT NULL, name TEXT, owner INTEGER, created_at INTEGER,
                        -- As the list of chats said last; `server_unread` counts up to the message `unread_as_of`.
                        summary_at INTEGER NOT NULL, summary_text TEXT,
                        server_unread INTEGER NOT NULL DEFAULT 0, unread_as_of INTEGER NOT NULL DEFAULT 0,
                        -- The user's own mark as the server has it, and the one that it is to get.
                        read_mark INTEGER NOT NULL DEFAULT 0, read_wanted INTEGER NOT NULL DEFAULT 0,
                        -- The versions after the newest list of changes, and after that of the connection before.
                        version INTEGER, base INTEGER,
                        -- What an app shows, computed from all of these.
                        updated_at INTEGER NOT NULL, last_text TEXT, unread INTEGER NOT NULL DEFAULT 0);
                    CREATE TABLE members (
                        chat INTEGER NOT NULL, position INTEGER NOT NULL, user INTEGER NOT NULL, username TEXT NOT NULL,
                        display_name TEXT NOT NULL, role TEXT NOT NULL, PRIMARY KEY (chat, user)) WITHOUT ROWID;
                    -- A deleted message stays as a row without content, so that an answer that was on its way cannot
                    -- bring it back.
                    CREATE TABLE messages (
                        id INTEGER PRIMARY KEY, chat INTEGER NOT NULL, sender INTEGER NOT NULL, content TEXT NOT NULL,
                        type TEXT NOT NULL, file INTEGER, created_at INTEGER NOT NULL, edited_at INTEGER,
                        is_deleted BOOLEAN NOT NULL DEFAULT 0,
                        pending_content TEXT, is_pending_deletion BOOLEAN NOT NULL DEFAULT 0);
                    CREATE INDEX messages_of_chat ON messages (chat, id);
                    CREATE INDEX messages_of_file ON messages (file) WHERE file IS NOT NULL;
                    -- Every message of the chat with an id from `low` to `high` is in `messages`; 0 is the beginning.
                    CREATE TABLE ranges (
                        chat INTEGER NOT NULL, low INTEGER NOT NULL, high INTEGER NOT NULL, PRIMARY KEY (chat, low)
                    ) WITHOUT ROWID;
                    CREATE TABLE marks (
                        chat INTEGER NOT NULL, user INTEGER NOT NULL, message INTEGER NOT NULL,
                        PRIMARY KEY (chat, user)) WITHOUT ROWID;
                    CREATE TABLE files (
                        id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT, size INTEGER NOT NULL,
                        used_at INTEGER NOT NULL);
                    """)
        }
        migrator.registerMigration("2") { db in
            try db.execute(
                sql: """
                    -- The other user of a direct chat, as the list of chats said last.
                    ALTER TABLE chats ADD COLUMN peer INTEGER;
                    ALTER TABLE chats ADD COLUMN peer_username TEXT;
                    ALTER TABLE chats ADD COLUMN peer_name TEXT;
                    ALTER TABLE chats ADD COLUMN peer_avatar INTEGER;
                    -- Whether the user has muted the chat, and until when, if that ends.
                    ALTER TABLE chats ADD COLUMN is_muted BOOLEAN NOT NULL DEFAULT 0;
                    ALTER TABLE chats ADD COLUMN muted_until INTEGER;
                    """)
        }
        return migrator
    }()

    static let outbox: DatabaseMigrator = {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { db in
            try db.execute(
                sql: """
                    CREATE TABLE owner (user INTEGER NOT NULL);
                    CREATE TABLE entries (
                        id INTEGER PRIMARY KEY AUTOINCREMENT, chat INTEGER NOT NULL, key TEXT NOT NULL UNIQUE,
                        content TEXT NOT NULL, type TEXT NOT NULL,
                        file_name TEXT, file_type TEXT, file_key TEXT, file INTEGER,
                        state TEXT NOT NULL, created_at INTEGER NOT NULL,
                        -- The time of the first attempt under the key, and the newest message known by then.
                        attempted_at INTEGER, after_message INTEGER,
                        -- The message that it has become.
                        message INTEGER, failure TEXT);
                    CREATE INDEX entries_of_chat ON entries (chat, id);
                    -- The newest message of a chat that was sent from here.
                    CREATE TABLE sent (chat INTEGER PRIMARY KEY, message INTEGER NOT NULL);
                    """)
        }
        return migrator
    }()
}

/// Opens and removes the files of a store.
enum StoreFile {
    /// Opens a file for a user, and empties it if it belonged to another user.
    ///
    /// - Parameter isDurable: Whether each change is on the disk when it returns, and not only safe from the death of the
    ///   process.
    static func open(
        _ url: URL, _ migrator: DatabaseMigrator, isDurable: Bool, user: Int64, _ configuration: Configuration
    ) throws -> DatabasePool {
        let pool = try connect(url, migrator, isDurable: isDurable, configuration)
        let owner = try pool.read { try Int64.fetchOne($0, sql: "SELECT user FROM owner") }
        if owner == user { return pool }
        if owner == nil {
            try pool.write { try $0.execute(sql: "INSERT INTO owner VALUES (?)", arguments: [user]) }
            return pool
        }
        try pool.close()
        try remove(url)
        return try open(url, migrator, isDurable: isDurable, user: user, configuration)
    }

    private static func connect(
        _ url: URL, _ migrator: DatabaseMigrator, isDurable: Bool, _ configuration: Configuration
    ) throws -> DatabasePool {
        var configuration = configuration
        configuration.maximumReaderCount = 2
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA synchronous = \(isDurable ? "FULL" : "NORMAL")")
        }
        let pool = try DatabasePool(path: url.path, configuration: configuration)
        // A later version of the app may have left tables that this one does not understand.
        if try pool.read({ try migrator.hasBeenSuperseded($0) }) { throw StoreFileUnusable() }
        try migrator.migrate(pool)
        return pool
    }

    /// Removes a file with those that SQLite keeps beside it.
    static func remove(_ url: URL) throws {
        for suffix in ["", "-wal", "-shm"] {
            let file = URL(fileURLWithPath: url.path + suffix)
            if FileManager.default.fileExists(atPath: file.path) { try FileManager.default.removeItem(at: file) }
        }
    }

    /// Returns whether an error says that a file is damaged, or not a database of this version.
    static func isDamage(_ error: any Error) -> Bool {
        if error is StoreFileUnusable { return true }
        guard let error = error as? DatabaseError else { return false }
        // Columns or tables that should be there are missing only in a file that something else has written.
        let isForeign = error.resultCode == .SQLITE_ERROR && (error.message?.hasPrefix("no such ") ?? false)
        return [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode) || isForeign
    }
}

/// The file was written by a later version.
struct StoreFileUnusable: Error {}
