import Backend
import Contract
import ContractServer
import Database
import DunbarAPI

extension DunbarService {
    func accounts(_ routes: inout Routes<Dunbar, Viewer>) {
        routes.open(use: forgotPassword)
        routes.open(use: resetPassword)
        routes.on(answering: deleteAccount)
    }

    /// Does the same for every address: who has it is looked up by the outbox.
    func forgotPassword(_ request: Dunbar.ForgotPassword, _ info: RequestInfo) async throws -> Dunbar.Confirmation {
        let (now, email) = (time.milliseconds(), request.email.trimmed)
        try await database.write { [attempts, outbox] db in
            let mayBeSent = try attempts.remind(Users.key(email), from: info.address, at: now, in: db)
            // Longer than any address.
            guard mayBeSent, email.length <= 254 else { return }
            try outbox.post(.reset(typed: email), at: now, in: db)
        }
        return .init(
            message: "If an account exists with this email, you will receive password reset instructions.")
    }

    func resetPassword(_ request: Dunbar.ResetPassword, _ info: RequestInfo) async throws -> Dunbar.Confirmation {
        let now = time.milliseconds()
        let refused = Dunbar.ResetPassword.refusal
        @Sendable func user(in db: Session) throws -> Dunbar.User.ID? {
            try LetterTokens.reset.user(of: request.token, at: now, in: db)
        }
        // Before a password is hashed, which takes long.
        guard try await database.read({ try user(in: $0) }) != nil else { throw refused }
        try request.validate()
        let password = try await gate.hash(request.newPassword, from: info.address)
        try await database.write { [sessions] db in
            // Of two at once the second waits here, and then finds no token.
            guard let found = try user(in: db), try Users.queue(found, in: db), try user(in: db) == found else {
                throw refused
            }
            try LetterTokens.reset.deleteAll(of: found, in: db)
            // Whoever has the letter has the mailbox.
            try db.run("UPDATE users SET password = \(password), is_verified = 1 WHERE id = \(found)")
            try sessions.endAll(of: found, in: db)
        }
        return .init(message: "Password has been reset")
    }

    func deleteAccount(
        _ request: Dunbar.DeleteAccount, from viewer: Viewer, _ info: RequestInfo
    ) async throws -> Answer<Dunbar.Confirmation> {
        let now = time.milliseconds()
        let refused = Problem(.badRequest, "Invalid password")
        // Whoever has taken a session over guesses here as they would when signing in.
        let files = try await gate.judge(
            request.password, from: info.address, at: now, refusal: refused,
            find: { db in
                guard let password = try Users.password(of: viewer.user, in: db) else { throw Self.unauthorized }
                return .init(password, countedAs: Users.attemptsName(viewer.user), password: password)
            },
            proceed: { password, admission in
                try await database.write { [attempts, sessions] db -> [String]? in
                    guard try Users.queue(viewer.user, in: db) else { throw Self.unauthorized }
                    // It may have been changed since.
                    guard try Users.password(of: viewer.user, in: db) == password else { throw refused }
                    try admission.settle(isSignIn: false, at: now, in: db)
                    if try Users.isAdmin(viewer.user, in: db) { return nil }
                    try sessions.endAll(of: viewer.user, in: db)
                    return try Users.delete(viewer.user, attempts, at: now, in: db)
                }
            })
        guard let files else { throw Problem(.badRequest, "Cannot delete admin account through this endpoint") }
        await remove(files)
        return Answer(.ok, .init(message: "Account deleted successfully"), headers: sessions.takingBack)
    }
}

extension Users {
    /// The account that has an address.
    static func address(_ typed: String, in db: Session) throws -> (id: Dunbar.User.ID, email: String)? {
        try db.one("SELECT id, email FROM users WHERE email_key = \(key(typed))") {
            try (id: $0.get(0), email: $0.get(1))
        }
    }

    /// What is kept of a password.
    static func password(of id: Dunbar.User.ID, in db: Session) throws -> String? {
        try db.value("SELECT password FROM users WHERE id = \(id)")
    }

    /// What sign-ins to an account are counted under.
    static func attemptsName(_ id: Dunbar.User.ID) -> String { "user \(id)" }

    /// What sign-ins under a name are counted under that nobody has.
    static func attemptsName(_ key: String) -> String { "name \(key)" }

    /// With everything that is theirs, but for sessions. Whoever calls this has queued for the user: whatever is added to
    /// an account queues too, so that nothing is left over.
    ///
    /// - Returns: The names of their files.
    static func delete(_ id: Dunbar.User.ID, _ attempts: Attempts, at now: Int64, in db: Session) throws -> [String] {
        // In line behind comments and reports that are being made on their posts, which then go too.
        try db.run("UPDATE posts SET id = id WHERE user_id = \(id)")
        let posts: SQL = "(SELECT id FROM posts WHERE user_id = \(id))"
        let files: [String] = try db.all(
            """
            SELECT name FROM media WHERE post_id IN \(posts)
            UNION ALL SELECT photo FROM users WHERE id = \(id) AND photo IS NOT NULL
            """
        ) { try $0.get(0) }
        try db.run("DELETE FROM media WHERE post_id IN \(posts)")
        for start in stride(from: 0, to: files.count, by: 500) {
            try UnsignedFiles.forget(Array(files[start..<min(start + 500, files.count)]), in: db)
        }
        try Reports.forget(id, at: now, in: db)
        try db.run("DELETE FROM comments WHERE user_id = \(id) OR post_id IN \(posts)")
        try db.run("DELETE FROM posts WHERE user_id = \(id)")
        // Others go on reading their lists behind the place where this one stood.
        try FormerRows.delete(.follow, where: "(follower_id = \(id) OR target_id = \(id))", at: now, in: db)
        try FormerRows.delete(.block, where: "(blocker_id = \(id) OR blocked_id = \(id))", at: now, in: db)
        try Rejections.forget(id, in: db)
        try LetterTokens.verification.deleteAll(of: id, in: db)
        try LetterTokens.reset.deleteAll(of: id, in: db)
        try OnceOnly.forget(subject: DunbarService.callerName(id), in: db)
        try Attempts.forget(uploadsBy: "\(id)", in: db)
        let keys = try db.one("SELECT username_key, email_key FROM users WHERE id = \(id)") {
            (name: try $0.get(0, as: String.self), email: try $0.get(1, as: String.self))
        }
        try attempts.forget(
            account: attemptsName(id), names: keys.map { [attemptsName($0.name)] } ?? [], email: keys?.email, in: db)
        try UserSearch.remove(id.rawValue, in: db)
        try db.run("DELETE FROM users WHERE id = \(id)")
        return files
    }
}
