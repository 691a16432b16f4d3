import Backend
import Database
import DunbarAPI

/// Where rows of lists stood that have gone. A client reads a list in pages by naming the last entry it has; that entry may
/// be removed meanwhile, often by the same client, and the list goes on behind the place where it stood.
///
/// Only numbers are kept, for a day: nobody reads a list for longer. Of a pair of users one row is kept, so there are no
/// more than there are pairs of users who had to do with each other that day.
enum FormerRows {
    /// Of which table.
    enum Kind: Int {
        /// Follows and requests: the owner follows, the other is followed.
        case follow = 0
        /// Blocks: the owner blocks, the other is blocked.
        case block = 1

        fileprivate var table: SQL { self == .follow ? "follows" : "blocks" }
        fileprivate var owner: SQL { self == .follow ? "follower_id" : "blocker_id" }
        fileprivate var other: SQL { self == .follow ? "target_id" : "blocked_id" }
    }

    /// In milliseconds.
    private static let lifetime: Int64 = 24 * 3_600_000

    /// Deletes rows of a table, and keeps where they stood.
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

    /// The place, as time and id, of the row between two users, whether it is there or has gone.
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

    /// The place of a request, whether it is there, was accepted or has gone. What is known of none any more is taken to
    /// have stood where its id says.
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
