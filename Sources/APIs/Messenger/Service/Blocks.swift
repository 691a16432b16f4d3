import Backend
import Contract
import ContractServer
import Database
import MessengerAPI

extension MessengerService {
    func blocks(_ routes: inout Routes<Messenger, Messenger.User.ID>) {
        routes.on(use: blockUser)
        routes.on(use: unblockUser)
        routes.on(use: listBlocks)
    }

    func blockUser(_ request: Messenger.BlockUser, from caller: Messenger.User.ID) async throws -> Empty {
        try Blocks.requireOther(request.user, than: caller)
        let now = time.milliseconds()
        try await database.write { db in
            try Users.lockCaller(caller, in: db)
            try Users.require(request.user, in: db)
            try Blocks.insert(request.user, by: caller, at: now, in: db)
            // The account may have been deleted in the meantime.
            try Users.require(request.user, in: db)
            // The lock waits for messages that are being sent to the chat; later senders find the block.
            try Chats.lockDirect(between: caller, and: request.user, in: db)
        }
        return Empty()
    }

    func unblockUser(_ request: Messenger.UnblockUser, from caller: Messenger.User.ID) async throws -> Empty {
        try Blocks.requireOther(request.user, than: caller)
        try await database.write { db in
            try Users.require(request.user, in: db)
            try Blocks.delete(request.user, by: caller, in: db)
        }
        return Empty()
    }

    func listBlocks(
        _ request: Messenger.ListBlocks, from caller: Messenger.User.ID
    ) async throws -> [Messenger.UserSummary] {
        try await database.read { try Blocks.all(by: caller, in: $0) }
    }
}

/// The two users of a direct chat, the lower id first.
struct Pair: Hashable {
    let low: Messenger.User.ID
    let high: Messenger.User.ID

    init(_ one: Messenger.User.ID, _ other: Messenger.User.ID) {
        (low, high) = (min(one, other), max(one, other))
    }

    /// Reads a pair from two columns, which are null for a group.
    init?(row: borrowing Row, at first: Int) throws {
        guard let low: Messenger.User.ID = try row.get(first), let high: Messenger.User.ID = try row.get(first + 1)
        else { return nil }
        self.init(low, high)
    }
}

enum Blocks {
    fileprivate static func requireOther(
        _ user: Messenger.User.ID, than caller: Messenger.User.ID
    ) throws(Problem) {
        guard user != caller else { throw Problem(.badRequest, "Cannot block yourself") }
    }

    /// Adds a block. It does nothing when the user is blocked already.
    fileprivate static func insert(
        _ user: Messenger.User.ID, by caller: Messenger.User.ID, at now: Int64, in db: Session
    ) throws {
        try db.run(
            """
            INSERT INTO blocks (blocker_id, blocked_id, created_at)
            VALUES (\(caller), \(user), \(now))
            ON CONFLICT (blocker_id, blocked_id) DO NOTHING
            """)
    }

    fileprivate static func delete(
        _ user: Messenger.User.ID, by caller: Messenger.User.ID, in db: Session
    ) throws {
        try db.run("DELETE FROM blocks WHERE blocker_id = \(caller) AND blocked_id = \(user)")
    }

    fileprivate static func all(
        by caller: Messenger.User.ID, in db: Session
    ) throws -> [Messenger.UserSummary] {
        try db.all(
            """
            SELECT u.id, u.username, u.display_name FROM blocks b JOIN users u ON u.id = b.blocked_id
            WHERE b.blocker_id = \(caller) ORDER BY u.username_key, u.id
            """
        ) { row in .init(id: try row.get(0), username: try row.get(1), displayName: try row.get(2)) }
    }

    /// Removes all blocks by a user and of a user.
    static func forget(_ user: Messenger.User.ID, in db: Session) throws {
        try db.run("DELETE FROM blocks WHERE blocker_id = \(user) OR blocked_id = \(user)")
    }

    /// Returns the query for the users whom a user has blocked, and who have blocked the user.
    static func involving(_ user: Messenger.User.ID) -> SQL {
        """
        SELECT blocked_id FROM blocks WHERE blocker_id = \(user)
        UNION ALL SELECT blocker_id FROM blocks WHERE blocked_id = \(user)
        """
    }

    /// Returns the query for the users who have blocked a user.
    static func blockers(of user: Messenger.User.ID) -> SQL {
        "SELECT blocker_id FROM blocks WHERE blocked_id = \(user)"
    }

    /// Requires that the users of a direct chat may write to each other.
    ///
    /// - Throws: A `Problem` with 403 when one has blocked the other, or an account was deleted.
    static func requireContact(_ pair: Pair, in db: Session) throws {
        if try db.exists(bar(between: "\(pair.low)", and: "\(pair.high)")) { throw noContact }
    }

    static let noContact = Problem(.forbidden, "You cannot message this user")

    /// Returns the query for what keeps two users from writing to each other.
    static func bar(between low: SQL, and high: SQL) -> SQL {
        """
        SELECT 1 FROM blocks WHERE blocker_id = \(low) AND blocked_id = \(high)
        UNION ALL SELECT 1 FROM blocks WHERE blocker_id = \(high) AND blocked_id = \(low)
        UNION ALL SELECT 1 FROM users WHERE id IN (\(low), \(high)) AND NOT \(Users.isPresent)
        """
    }
}
