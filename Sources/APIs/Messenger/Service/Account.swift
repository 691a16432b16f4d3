import Backend
import Contract
import ContractServer
import Database
import MessengerAPI

extension MessengerService {
    func account(_ routes: inout Routes<Messenger, Messenger.User.ID>) {
        routes.on(use: updateMe)
        routes.on(answering: changePassword)
        routes.on(answering: deleteMe)
    }

    func changePassword(
        _ request: Messenger.ChangePassword, from user: Messenger.User.ID, _ info: RequestInfo
    ) async throws -> Answer<Empty> {
        let session = try await caller(info).session
        return try await accounts.changePassword(
            of: user, from: request.currentPassword, to: request.newPassword, info
        ) { _, db in
            try self.endSessions(of: user, except: session, in: db)
            try AccountEmails<Users>.endResets(of: user, in: db)
            return Answer(.noContent, Empty())
        }
    }

    func updateMe(
        _ request: Messenger.UpdateMe, from caller: Messenger.User.ID
    ) async throws -> Messenger.Account {
        let now = time.milliseconds()
        let flagged = settings.flaggedWords.finding(in: request)
        return try await database.write { db in
            try Users.lockCaller(caller, in: db)
            guard var account = try Users.account(caller, in: db) else { throw Sessions.invalidToken }
            let former = account.avatar
            if let name = request.displayName?.trimmed { account.displayName = name }
            request.bio.apply(to: &account.bio)
            request.avatar.apply(to: &account.avatar)
            if account.avatar != former, let picture = account.avatar {
                try Files.lock(picture, of: caller, in: db)
                try Files.requireImage(picture, in: db)
            }
            try Users.update(account, in: db)
            try Reports.Queue.flag(flagged, person: caller, at: now, in: db)
            if account.avatar != former, let former { try Files.release([former], in: db) }
            return account
        }
    }
}

extension Users {
    fileprivate static func update(_ account: Messenger.Account, in db: Session) throws {
        try db.run(
            """
            UPDATE users SET display_name = \(account.displayName), display_key = \(key(account.displayName)),
                bio = \(account.bio), avatar_file_id = \(account.avatar)
            WHERE id = \(account.id)
            """)
        try UserSearch.update(account.id.rawValue, in: db)
    }
}

extension Files {
    fileprivate static func requireImage(_ file: Messenger.File.ID, in db: Session) throws {
        let type: String? = try db.value("SELECT mime_type FROM files WHERE id = \(file)")
        guard type?.hasPrefix("image/") == true else { throw Problem(.badRequest, "avatar must be an image") }
    }
}
