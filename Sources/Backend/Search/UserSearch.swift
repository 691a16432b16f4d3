import Database
import Foundation

/// Finds users by parts of their names, with a ``SearchIndex`` of `username_key` and `display_key` of the table
/// `users`.
public enum UserSearch {
    private static let scope = 0
    /// The value of `search_block` for users who cannot be found.
    private static let none = 0

    /// The migration for a schema that has users and no index yet (``bringUpToDate(_:)``).
    public static let migration =
        SearchIndex.tables + [
            // The block that has the user's line.
            "ALTER TABLE users ADD COLUMN search_block BIGINT",
            "CREATE INDEX users_unsearched ON users (id) WHERE search_block IS NULL",
        ]

    // MARK: Writing

    /// Updates a user's names in the index. Every transaction that creates a user or changes a name must call it.
    public static func update(_ id: Int64, in db: Session) throws {
        let user = try db.lock("username_key, display_key, search_block", from: "users", where: "id = \(id)") {
            (texts: [try $0.get(0, as: String.self), try $0.get(1)], block: try $0.get(2, as: Int?.self))
        }
        guard let user else { return }
        let entry = SearchIndex.Entry(id: Int(id), texts: user.texts)
        if let block = user.block, block != none {
            try SearchIndex.replace(entry, in: block, of: scope, in: db)
        } else {
            try add([entry], in: db)
        }
    }

    /// Removes a user from the index. It must be called before a user's row is emptied or deleted.
    public static func remove(_ id: Int64, in db: Session) throws {
        let block: Int?? = try db.lock("search_block", from: "users", where: "id = \(id)") { try $0.get(0) }
        if let block = block ?? nil, block != none { try SearchIndex.remove([Int(id)], from: block, of: scope, in: db) }
        try db.run("UPDATE users SET search_block = \(none) WHERE id = \(id)")
    }

    private static func add(_ entries: [SearchIndex.Entry], in db: Session) throws {
        for (block, ids) in try SearchIndex.add(entries, to: scope, in: db) {
            for start in stride(from: 0, to: ids.count, by: 64) {
                let some = Array(ids[start..<min(start + 64, ids.count)])
                try db.run("UPDATE users SET search_block = \(block) WHERE id IN (\(list: some))")
            }
        }
    }

    /// Adds the users who are in no index yet, in batches: those of a database that is older than the index.
    ///
    /// - Parameter condition: The SQL condition for users who can be found at all.
    public static func bringUpToDate(_ database: Database, where condition: SQL = "1 = 1") async throws {
        try await database.write { db in
            try db.run("UPDATE users SET search_block = \(none) WHERE search_block IS NULL AND NOT (\(condition))")
        }
        var isDone = false
        while !isDone {
            try Task.checkCancellation()
            isDone = try await database.write { db in
                // Claiming the rows first makes another node take others.
                let entries = try db.all(
                    """
                    UPDATE users SET search_block = \(none) WHERE search_block IS NULL AND id IN (
                        SELECT id FROM users WHERE search_block IS NULL ORDER BY id LIMIT 1000)
                    RETURNING id, username_key, display_key
                    """
                ) { SearchIndex.Entry(id: try $0.get(0), texts: [try $0.get(1), try $0.get(2)]) }
                try add(entries.sorted { $0.id < $1.id }, in: db)
                return entries.isEmpty
            }
        }
    }

    // MARK: Searching

    /// Returns the first users one of whose names contains a text, ordered by username, then id.
    ///
    /// - Parameters:
    ///   - key: The text, case-folded in the same way as the keys.
    ///   - select: Reads the users with the given ids who may be shown, in the same order.
    public static func first<User>(
        _ limit: Int, containing key: String, in db: Session, _ select: (_ ids: [Int]) throws -> [User]
    ) throws -> [User] {
        let blocks = try SearchIndex.blocks(with: [key], in: scope, db)
        if (blocks?.count ?? .max) > 64 {
            // Users with such a common text are found soon by reading users in order.
            let ids = try walk(containing: key, in: db)
            let users = try ids.isEmpty ? [] : select(ids)
            if users.count >= limit { return Array(users.prefix(limit)) }
        }
        var found: [(name: [UInt8], id: Int)] = []
        try SearchIndex.find([key], in: scope, within: blocks, db) { found.append(($0.firstText, $0.id)) }
        found.sort { $0.name == $1.name ? $0.id < $1.id : $0.name.lexicographicallyPrecedes($1.name) }
        var users: [User] = []
        var rest = found[...]
        while users.count < limit, !rest.isEmpty {
            users += try select(rest.prefix(2 * limit).map(\.id))
            rest = rest.dropFirst(2 * limit)
        }
        return Array(users.prefix(limit))
    }

    private static func walk(containing key: String, in db: Session) throws -> [Int] {
        let escaped = key.replacingOccurrences(of: #"([%_\\])"#, with: #"\\$1"#, options: .regularExpression)
        let pattern = "%\(escaped)%"
        return try db.all(
            #"""
            SELECT id FROM (SELECT id, username_key, display_key FROM users ORDER BY username_key, id LIMIT 500) first
            WHERE username_key LIKE \#(pattern) ESCAPE '\' OR display_key LIKE \#(pattern) ESCAPE '\'
            """#
        ) { try $0.get(0) }
    }
}
