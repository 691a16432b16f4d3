import Backend
import Contract
import ContractServer
import Database
import DunbarAPI

extension DunbarService {
    func blocks(_ routes: inout Routes<Dunbar, Caller>) {
        routes.on(use: block)
        routes.on(use: unblock)
        routes.on(use: listBlocks)
    }

    func block(_ request: Dunbar.Block, from caller: Caller) async throws -> Dunbar.Confirmation {
        let now = time.milliseconds()
        return try await database.write { db in
            // The locks keep either user from following the other in the meantime.
            let areThere = try Users.lock([caller.user, request.user], in: db)
            guard areThere, try Users.exists(request.user, for: caller.user, in: db) else {
                throw try Users.missingUser(for: caller.user, in: db)
            }
            guard request.user != caller.user else { throw Problem(.badRequest, "Cannot block yourself") }
            try Blocks.insert(request.user, by: caller.user, at: now, in: db)
            try Follows.deleteAll(between: caller.user, and: request.user, at: now, in: db)
            return .init(message: "User blocked")
        }
    }

    func unblock(_ request: Dunbar.Unblock, from caller: Caller) async throws -> Dunbar.Confirmation {
        let now = time.milliseconds()
        return try await database.write { db in
            // A caller may remove a block of their own even when the other user has blocked them.
            guard
                try Blocks.delete(request.user, by: caller.user, at: now, in: db)
                    || Users.exists(request.user, for: caller.user, in: db)
            else { throw Users.notFound }
            return .init(message: "User unblocked")
        }
    }

    func listBlocks(_ request: Dunbar.ListBlocks, from caller: Caller) async throws -> [Dunbar.User] {
        try await database.read { [urls] db in
            try Users.list(
                Blocks.listClauses(of: caller.user, before: request.before, limit: request.limit),
                with: request.include, for: caller.user, urls, in: db)
        }
    }
}

enum Blocks {
    static func exist(of blocked: Dunbar.User.ID, by blocker: Dunbar.User.ID, in db: Session) throws -> Bool {
        try db.exists("SELECT 1 FROM blocks WHERE blocker_id = \(blocker) AND blocked_id = \(blocked)")
    }

    static func insert(
        _ blocked: Dunbar.User.ID, by blocker: Dunbar.User.ID, at now: Int64, in db: Session
    ) throws {
        try db.run(
            """
            INSERT INTO blocks (blocker_id, blocked_id, created_at) VALUES (\(blocker), \(blocked), \(now))
            ON CONFLICT (blocker_id, blocked_id) DO NOTHING
            """)
    }

    /// Deletes a block, and returns false when there was none.
    static func delete(
        _ blocked: Dunbar.User.ID, by blocker: Dunbar.User.ID, at now: Int64, in db: Session
    ) throws -> Bool {
        try FormerRows.delete(
            .block, where: "blocker_id = \(blocker) AND blocked_id = \(blocked)", at: now, in: db) > 0
    }

    /// Returns the JOIN, WHERE and ORDER BY clauses behind `FROM users u` for a list of blocked users.
    static func listClauses(of blocker: Dunbar.User.ID, before: Dunbar.User.ID?, limit: Int?) -> SQL {
        let place: SQL =
            before.map { "AND (b.created_at, b.id) < \(FormerRows.place(.block, of: blocker, and: $0))" } ?? ""
        return """
            JOIN blocks b ON b.blocked_id = u.id WHERE b.blocker_id = \(blocker) \(place)
            ORDER BY b.created_at DESC, b.id DESC LIMIT \(limit ?? Dunbar.maximumPage)
            """
    }
}
