import Backend
import Contract
import ContractServer
import Database
import DunbarAPI
import Identity

extension DunbarService {
    func accounts(_ routes: inout Routes<Dunbar, Caller>) {
        routes.open(use: forgotPassword)
        routes.open(use: resetPassword)
        routes.on(answering: changePassword)
        routes.on(answering: changeEmail)
        routes.on(answering: deleteAccount)
    }

    func forgotPassword(_ request: Dunbar.ForgotPassword, _ info: RequestInfo) async throws -> Dunbar.Confirmation {
        try await emails.sendReset(to: request.email.trimmed, from: info.address)
        return .init(
            message: "If an account exists with this email, you will receive password reset instructions.")
    }

    func resetPassword(_ request: Dunbar.ResetPassword, _ info: RequestInfo) async throws -> Dunbar.Confirmation {
        let isSet = try await emails.reset(
            to: request.newPassword, by: request.token, accounts, from: info.address, validate: request.validate
        ) { [sessions] user, db in try sessions.endAll(of: user, in: db) }
        guard isSet else { throw Dunbar.ResetPassword.refusal }
        return .init(message: "Password has been reset")
    }

    func changePassword(
        _ request: Dunbar.ChangePassword, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<Dunbar.Confirmation> {
        try await accounts.changePassword(
            of: caller.user, from: request.currentPassword, to: request.newPassword, info
        ) { [sessions] _, db in
            try sessions.endOthers(of: caller, in: db)
            try AccountEmails<Users>.endResets(of: caller.user, in: db)
            return Answer(.ok, .init(message: "Password changed"))
        }
    }

    func changeEmail(
        _ request: Dunbar.ChangeEmail, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<Dunbar.Confirmation> {
        let token = RandomToken.make()
        try await accounts.confirm(request.password, of: caller.user, info) { [emails] now, db in
            try emails.sendChange(
                to: request.email.trimmed, of: caller.user, token: token, from: info.address, taken: Users.takenEmail,
                at: now, in: db)
        }
        return Answer(.ok, .init(message: "Verification email sent"))
    }

    func deleteAccount(
        _ request: Dunbar.DeleteAccount, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<Dunbar.Confirmation> {
        let files = try await accounts.confirm(request.password, of: caller.user, info) {
            [accounts, archives, sessions] now, db -> [String]? in
            if try Users.isAdmin(caller.user, in: db) { return nil }
            try sessions.endAll(of: caller.user, in: db)
            return try Users.delete(caller.user, accounts, archives, at: now, in: db)
        }
        guard let files else { throw Problem(.badRequest, "Cannot delete admin account through this endpoint") }
        await remove(files)
        return Answer(.ok, .init(message: "Account deleted successfully"), headers: sessions.clearingCookie)
    }
}

extension Users {
    /// Deletes an account with everything that belongs to it, except its sessions. The account's row is locked first.
    /// Every transaction that adds something to an account takes that lock, too, so nothing is left over.
    ///
    /// - Returns: The names of the account's files.
    static func delete(
        _ id: Dunbar.User.ID, _ accounts: Accounts<Users>, _ archives: Archives<Users>, at now: Int64, in db: Session
    ) throws -> [String] {
        try archives.forget(id, in: db)
        // The lock waits for comments and reports that are being written on the posts, so that they are deleted as
        // well.
        try db.lock("posts", where: "user_id = \(id) ORDER BY id")
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
        try Reports.Queue.forget(id, at: now, in: db)
        try Comments.endReports(on: posts, at: now, in: db)
        try db.run("DELETE FROM comments WHERE user_id = \(id) OR post_id IN \(posts)")
        try db.run("DELETE FROM posts WHERE user_id = \(id)")
        // Other users go on reading their lists after the place where the entry was.
        try FormerRows.delete(.follow, where: "(follower_id = \(id) OR target_id = \(id))", at: now, in: db)
        try FormerRows.delete(.block, where: "(blocker_id = \(id) OR blocked_id = \(id))", at: now, in: db)
        try Rejections.forget(id, in: db)
        try AccountEmails<Users>.forget(id, accounts.throttle, in: db)
        let keys = try db.one("SELECT username_key, email_key FROM users WHERE id = \(id)") {
            (name: try $0.get(0, as: String.self), email: try $0.get(1, as: String.self))
        }
        try accounts.forget(id, logins: keys.map { [$0.name] } ?? [], email: keys?.email, in: db)
        try UserSearch.remove(id.rawValue, in: db)
        try db.run("DELETE FROM users WHERE id = \(id)")
        return files
    }
}
