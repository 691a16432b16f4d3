import Backend
import Contract
import Database
import DeuceDiaryAPI

extension DeuceDiaryService {
    func deleteUser(_ request: DeuceDiary.DeleteUser, from caller: Caller) async throws -> DeuceDiary.Confirmation {
        let now = time.milliseconds()
        // The caller's own token is older than the deletion, whatever its issuer's clock says.
        let issuedUntil = max(now / 1000, caller.claims.issuedAt)
        let picture = try await database.write { db in
            try self.delete(caller.user, issuedUntil: issuedUntil, at: now, in: db)
        }
        await remove(picture: picture)
        return .init(message: "Account deleted")
    }

    /// Deletes an account, and refuses its tokens that were issued up to a time, in Unix seconds.
    ///
    /// - Returns: The name of the picture, whose file must be removed after the commit.
    func delete(
        _ user: DeuceDiary.User.ID, issuedUntil: Int64, at now: Int64, in db: Session
    ) throws -> String? {
        let picture = try Deletion.run(user, at: now, in: db)
        try archives.forget(user, in: db)
        try endTokens(of: user, issuedUntil: issuedUntil, at: now, in: db)
        return picture
    }

    /// Refuses the tokens of a user that were issued up to a time, in Unix seconds, on every node, and closes the sockets
    /// that were opened with one.
    func endTokens(
        of user: DeuceDiary.User.ID, issuedUntil: Int64, at now: Int64, in db: Session
    ) throws {
        try Deletion.remember(user, issuedUntil: issuedUntil, at: now, in: db)
        publisher.publish(.deleted(user, issuedUntil: issuedUntil), short: nil, as: nil, in: db)
        // On this node it takes effect before the answer, whichever way events take.
        db.afterCommit { [accounts] in accounts.refuseTokens(of: user, issuedUntil: issuedUntil) }
    }

    /// Removes a picture that no account has any more, unless a report keeps it. One that cannot be removed now is swept
    /// later.
    func remove(picture: String?) async {
        guard let key = picture.flatMap(Pictures.key),
            let free = try? await ReportedFiles.without(kept: [key.rawValue], in: database), !free.isEmpty
        else { return }
        try? await objects.delete(key)
    }
}

/// Deletes an account.
private enum Deletion {
    /// Removes a user with everything that belongs to them.
    ///
    /// - Returns: The name of their picture, whose file must be removed after the commit.
    /// - Throws: A `Problem` with 401 when the account is already deleted; `DatabaseFailure.conflict` when rows were
    ///   added in the meantime.
    static func run(_ user: DeuceDiary.User.ID, at now: Int64, in db: Session) throws -> String? {
        let groups = try groups(of: user, in: db)
        for group in groups { try Groups.lock(group, in: db) }
        try Users.lockCaller(user, in: db)
        // From now on nothing can be added to the account. Groups are locked before users, so a group that was added
        // before this lock needs a new attempt.
        guard Set(groups).isSuperset(of: try self.groups(of: user, in: db)) else {
            throw DatabaseFailure.conflict("the user has joined another group")
        }
        let picture: String?? = try db.value("SELECT picture FROM users WHERE id = \(user)")
        for group in groups {
            try Entries.delete(of: user, in: group, db)
            _ = try Members.remove(user, from: group, in: db)
        }
        try db.run("DELETE FROM reactions WHERE user_id = \(user)")
        for group in groups {
            try Members.ensureAdmin(of: group, at: now, in: db)
            if let successor = try Members.longestStanding(in: group, as: .admin, db) {
                try db.run("UPDATE groups SET created_by = \(successor) WHERE id = \(group) AND created_by = \(user)")
            }
        }
        try db.run("UPDATE locations SET created_by = NULL WHERE created_by = \(user)")
        try db.run("DELETE FROM invites WHERE created_by = \(user)")
        try db.run("DELETE FROM days WHERE user_id = \(user)")
        try Blocks.forget(user, in: db)
        try Reports.Queue.forget(user, at: now, in: db)
        try IdempotencyStore.forget(callersNamed: DeuceDiaryService.name(of: user), in: db)
        try RateLimits.forget([DeuceDiaryService.requestKey(of: user)], in: db)
        do {
            try db.run("DELETE FROM users WHERE id = \(user)")
        } catch DatabaseFailure.constraint(let text) {
            throw DatabaseFailure.conflict(text)
        }
        return picture ?? nil
    }

    /// Returns the groups that the user is in, has entries in, or has created.
    private static func groups(of user: DeuceDiary.User.ID, in db: Session) throws -> [DeuceDiary.Group.ID] {
        try db.all(
            """
            SELECT group_id FROM members WHERE user_id = \(user)
            UNION SELECT group_id FROM entries WHERE user_id = \(user)
            UNION SELECT id FROM groups WHERE created_by = \(user) ORDER BY 1
            """
        ) { try $0.get(0) }
    }

    /// Records a deletion, so that tokens of the deleted account are refused when the user begins a new one.
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
