import Backend
import Contract
import Database
import DeuceDiaryAPI

extension DeuceDiaryService {
    func deleteUser(_ request: DeuceDiary.DeleteUser, from caller: Caller) async throws -> DeuceDiary.Confirmation {
        let now = time.milliseconds()
        // The token that asks is older than the deletion, whatever its issuer's clock says.
        let issuedUntil = max(now / 1000, caller.claims.issuedAt)
        let picture = try await database.write { [announcer, accounts] db in
            let picture = try Deletion.run(caller.user, at: now, in: db)
            try Deletion.remember(caller.user, issuedUntil: issuedUntil, at: now, in: db)
            let news = LiveNews.deleted(caller.user, issuedUntil: issuedUntil)
            try announcer.announce(news, inShort: news, in: db)
            // On this node before the answer, wherever news travels.
            db.afterCommit { accounts.end(caller.user, issuedUntil: issuedUntil) }
            return picture
        }
        // What cannot be deleted now is swept later.
        if let picture = picture.flatMap(Pictures.key) { try? await objects.delete(picture) }
        return .init(message: "Account deleted")
    }
}

/// The end of an account.
private enum Deletion {
    /// Removes a user and all that is theirs.
    ///
    /// - Returns: The name of their picture, whose file is to go after the commit.
    /// - Throws: 401 when the account is gone; `DatabaseFailure.conflict` when something of theirs was made meanwhile.
    static func run(_ user: DeuceDiary.User.ID, at now: Int64, in db: Session) throws -> String? {
        let groups = try groups(of: user, in: db)
        for group in groups { try Groups.lock(group, in: db) }
        try Users.lockCaller(user, in: db)
        // From now on nothing can be added to the account. A group that came before that must be locked before the user.
        guard Set(groups).isSuperset(of: try self.groups(of: user, in: db)) else {
            throw DatabaseFailure.conflict("the user has come into another group")
        }
        let picture: String?? = try db.value("SELECT picture FROM users WHERE id = \(user)")
        for group in groups {
            try Entries.delete(of: user, in: group, db)
            _ = try Members.remove(user, from: group, in: db)
        }
        try db.run("DELETE FROM reactions WHERE user_id = \(user)")
        for group in groups {
            try Members.settle(group, at: now, in: db)
            if let heir = try Members.longestStanding(in: group, as: .admin, db) {
                try db.run("UPDATE groups SET created_by = \(heir) WHERE id = \(group) AND created_by = \(user)")
            }
        }
        try db.run("UPDATE locations SET created_by = NULL WHERE created_by = \(user)")
        try db.run("DELETE FROM invites WHERE created_by = \(user)")
        try db.run("DELETE FROM days WHERE user_id = \(user)")
        try IdempotencyStore.forget(callersNamed: DeuceDiaryService.name(of: user), in: db)
        try RateLimits.forget([DeuceDiaryService.requestKey(of: user)], in: db)
        do {
            try db.run("DELETE FROM users WHERE id = \(user)")
        } catch DatabaseFailure.constraint(let text) {
            throw DatabaseFailure.conflict(text)
        }
        return picture ?? nil
    }

    /// Those that the user is in, has entries in, or has made.
    private static func groups(of user: DeuceDiary.User.ID, in db: Session) throws -> [DeuceDiary.Group.ID] {
        try db.all(
            """
            SELECT group_id FROM members WHERE user_id = \(user)
            UNION SELECT group_id FROM entries WHERE user_id = \(user)
            UNION SELECT id FROM groups WHERE created_by = \(user) ORDER BY 1
            """
        ) { try $0.get(0) }
    }

    /// Tells tokens of the account that was from those of one that begins later.
    static func remember(
        _ user: DeuceDiary.User.ID, issuedUntil: Int64, at now: Int64, in db: Session
    ) throws {
        try db.run(
            """
            INSERT INTO deletions (user_id, issued_until, deleted_at) VALUES (\(user), \(issuedUntil), \(now))
            ON CONFLICT (user_id) DO UPDATE SET
                issued_until = CASE WHEN deletions.issued_until > excluded.issued_until THEN deletions.issued_until
                    ELSE excluded.issued_until END,
                deleted_at = excluded.deleted_at
            """)
    }
}
