import Backend
import Contract
import ContractServer
import Database
import DeuceDiaryAPI

extension DeuceDiaryService {
    func blocks(_ routes: inout Routes<DeuceDiary, Caller>) {
        routes.on(use: blockUser)
        routes.on(use: unblockUser)
        routes.on(use: listBlocks)
    }

    func blockUser(_ request: DeuceDiary.BlockUser, from caller: Caller) async throws -> DeuceDiary.Confirmation {
        let now = time.milliseconds()
        return try await database.write { db in
            guard request.user != caller.user else { throw Problem(.badRequest, "You can't block yourself") }
            guard try !Blocks.exist(of: request.user, by: caller.user, in: db) else { return Blocks.done }
            try Users.requireKnown(request.user, to: caller.user, in: db)
            guard try Users.lock([caller.user, request.user], in: db) else { throw Users.notFound }
            try db.run(
                """
                INSERT INTO blocks (blocker_id, blocked_id, created_at)
                VALUES (\(caller.user), \(request.user), \(now)) ON CONFLICT (blocker_id, blocked_id) DO NOTHING
                """)
            return Blocks.done
        }
    }

    func unblockUser(_ request: DeuceDiary.UnblockUser, from caller: Caller) async throws -> DeuceDiary.Confirmation {
        try await database.write { db in
            try db.run("DELETE FROM blocks WHERE blocker_id = \(caller.user) AND blocked_id = \(request.user)")
        }
        return .init(message: "User unblocked")
    }

    func listBlocks(_ request: DeuceDiary.ListBlocks, from caller: Caller) async throws -> [DeuceDiary.User] {
        try await database.read { db in
            try db.all(
                """
                SELECT \(Users.columns(for: caller.user)) FROM blocks b JOIN users u ON u.id = b.blocked_id
                WHERE b.blocker_id = \(caller.user) ORDER BY b.created_at DESC, b.id DESC
                """
            ) { try .init(row: $0) }
        }
    }
}

/// The blocks between users. They bar what reaches the other: reactions and invites.
enum Blocks {
    static let done = DeuceDiary.Confirmation(message: "User blocked")

    /// The statements that create the table. An account takes its blocks with it, also when a node of the version before
    /// deletes it.
    static let table = [
        """
        CREATE TABLE blocks (
            id {ID}, blocker_id {KEY} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
            blocked_id {KEY} NOT NULL REFERENCES users (id) ON DELETE CASCADE, created_at BIGINT NOT NULL,
            UNIQUE (blocker_id, blocked_id))
        """,
        "CREATE INDEX blocks_against ON blocks (blocked_id)",
    ]

    static func exist(of blocked: DeuceDiary.User.ID, by blocker: DeuceDiary.User.ID, in db: Session) throws -> Bool {
        try db.exists("SELECT 1 FROM blocks WHERE blocker_id = \(blocker) AND blocked_id = \(blocked)")
    }

    /// Returns whether one of two users has blocked the other.
    static func exist(between one: DeuceDiary.User.ID, and other: DeuceDiary.User.ID, in db: Session) throws -> Bool {
        try db.exists(
            """
            SELECT 1 FROM blocks WHERE blocker_id = \(one) AND blocked_id = \(other)
                OR blocker_id = \(other) AND blocked_id = \(one)
            """)
    }

    /// Removes the blocks of and against a user whose account is deleted.
    static func forget(_ user: DeuceDiary.User.ID, in db: Session) throws {
        try db.run("DELETE FROM blocks WHERE blocker_id = \(user) OR blocked_id = \(user)")
    }
}
