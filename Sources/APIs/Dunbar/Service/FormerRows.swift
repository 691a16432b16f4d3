import Backend
import Database
import DunbarAPI

/// Keeps the former places of deleted list entries. A client reads a list in pages by naming its last entry. That entry
/// may be deleted in the meantime, often by the same client; the list then continues behind its former place.
///
/// A row has only numbers and is kept for a day, which is longer than a client reads a list. There is at most one row
/// for each pair of users and kind.
enum FormerRows {
    /// The table of a deleted row.
    enum Kind: Int {
        /// A follow or a request: the owner follows, the other is followed.
        case follow = 0
        /// A block: the owner blocks, the other is blocked.
        case block = 1

        fileprivate var table: SQL { self == .follow ? "follows" : "blocks" }
        fileprivate var owner: SQL { self == .follow ? "follower_id" : "blocker_id" }
        fileprivate var other: SQL { self == .follow ? "target_id" : "blocked_id" }
    }

    /// The time in milliseconds for which a place is kept.
    private static let lifetime: Int64 = 24 * 3_600_000

    static let times = [StoredTime("former_rows", "ended_at")]

    /// Deletes rows of a table, and keeps their places.
    ///
    /// - Returns: The number of rows deleted.
    @discardableResult
    static func delete(_ kind: Kind, where condition: SQL, at now: Int64, in db: Session) throws -> Int {
        try db.run(
            """
            INSERT INTO former_rows (kind, owner_id, other_id, row_id, created_at, ended_at)
            SELECT CAST(\(kind.rawValue) AS INTEGER), \(kind.owner), \(kind.other), id, created_at, CAST(\(now) AS BIGINT)
            FROM \(kind.table) WHERE \(condition)
            ON CONFLICT (kind, owner_id, other_id) DO UPDATE SET
                row_id = excluded.row_id, created_at = excluded.created_at, ended_at = excluded.ended_at
            """)
        return try db.run("DELETE FROM \(kind.table) WHERE \(condition)")
    }

    /// Returns the place of the row between two users, as time and id, whether the row exists or was deleted.
    static func place(_ kind: Kind, of owner: Dunbar.User.ID, and other: Dunbar.User.ID) -> SQL {
        """
        (SELECT p.created_at, p.id FROM (
            SELECT created_at, id, 0 AS age FROM \(kind.table)
            WHERE \(kind.owner) = \(owner) AND \(kind.other) = \(other)
            UNION ALL SELECT created_at, row_id, 1 FROM former_rows
            WHERE kind = \(kind.rawValue) AND owner_id = \(owner) AND other_id = \(other)
            ORDER BY age LIMIT 1) p)
        """
    }

    /// Returns the place of a request, whether it is pending, accepted or deleted. When nothing is known of it any
    /// more, its place is derived from its id.
    static func place(ofRequest id: Dunbar.FollowRequest.ID) -> SQL {
        """
        (SELECT p.created_at, CAST(\(id) AS BIGINT) FROM (
            SELECT created_at, 0 AS age FROM follows WHERE id = \(id)
            UNION ALL SELECT created_at, 1 FROM former_rows
            WHERE kind = \(Kind.follow.rawValue) AND row_id = \(id)
            UNION ALL SELECT created_at, 2 FROM (
                SELECT created_at FROM follows WHERE id < \(id) ORDER BY id DESC LIMIT 1) n
            ORDER BY age LIMIT 1) p)
        """
    }

    static func sweep(at now: Int64, in db: Session) throws {
        try db.run("DELETE FROM former_rows WHERE ended_at <= \(now - lifetime)")
    }
}
