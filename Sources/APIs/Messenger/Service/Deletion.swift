import Backend
import Contract
import ContractServer
import Database
import MessengerAPI
import ObjectStore

extension MessengerService {
    /// The number of stored objects that are removed before the answer. A sweep removes the others.
    static let objectsRemovedAtOnce = 100

    func deleteMe(
        _ request: Messenger.DeleteMe, from caller: Messenger.User.ID, _ info: RequestInfo
    ) async throws -> Answer<Empty> {
        let removed = try await accounts.confirm(request.password, of: caller, info) { now, db in
            try self.delete(caller, at: now, in: db)
        }
        await remove(objects: removed)
        return Answer(.noContent, Empty())
    }

    /// Removes stored objects that no file names any more, but for those that a report keeps.
    func remove(objects removed: [String]) async {
        let free = (try? await ReportedFiles.without(kept: removed, in: database)) ?? []
        for key in free.prefix(Self.objectsRemovedAtOnce).compactMap(ObjectKey.init) {
            // An object that cannot be removed now is swept later, because no row names it any more.
            try? await objects.delete(key)
        }
    }

    /// Deletes a user whose row is locked, with everything that belongs to the user.
    ///
    /// - Returns: The keys of stored objects that no file names any more.
    func delete(_ user: Messenger.User.ID, at now: Int64, in db: Session) throws -> [String] {
        let stored = try Files.objectKeys(of: user, in: db)
        try leaveChats(user, in: db)
        // Another transaction that adds this user to a chat either waits for the row or has added the user already. In
        // the second case there is another chat now.
        let names = try Users.anonymize(user, at: now, in: db)
        try leaveChats(user, in: db)
        for session in try sessions.endAll(of: user, in: db) { announce(.sessionEnded(session), as: nil, in: db) }
        try archives.forget(user, in: db)
        try Blocks.forget(user, in: db)
        try Reports.Queue.forget(user, at: now, in: db)
        try AccountEmails<Users>.forget(user, accounts.throttle, in: db)
        try accounts.forget(user, logins: names, email: names.last, in: db)
        try Files.release(Files.all(of: user, in: db), in: db)
        let kept = Set(try Files.objectKeys(of: user, in: db))
        return stored.filter { !kept.contains($0) }
    }

    private func leaveChats(_ user: Messenger.User.ID, in db: Session) throws {
        for chat in try Members.chats(of: user, in: db) {
            // The membership may have ended while this transaction waited for the lock.
            guard let change = try ChatChange.lock(in: chat, by: user, db) else { continue }
            try endMembership(of: user, change, in: db)
        }
    }
}

extension Users {
    /// Removes all personal data from a user's row. The row itself stays, because messages and files may refer to it.
    ///
    /// - Returns: The keys of the username and the address.
    /// - Throws: A `Problem` with 401 when another request has deleted the account.
    fileprivate static func anonymize(_ user: Messenger.User.ID, at now: Int64, in db: Session) throws -> [String] {
        try UserSearch.remove(user.rawValue, in: db)
        let keys = try db.one("SELECT username_key, email_key FROM users WHERE id = \(user)") {
            [try $0.get(0, as: String.self), try $0.get(1)]
        }
        // Usernames contain no "@" and addresses contain one, so no account has these keys.
        let isDone = try db.run(
            """
            UPDATE users SET deleted_at = \(now), username = '', username_key = \("@\(user)"), email = '',
                email_key = \("\(user)"), display_name = '', display_key = '', bio = NULL, avatar_file_id = NULL,
                password = '', folded_name = NULL, accepted_terms = NULL, \(Suspension.lifted)
            WHERE id = \(user) AND \(isPresent)
            """)
        guard isDone == 1 else { throw Sessions.invalidToken }
        return keys ?? []
    }
}

extension Files {
    fileprivate static func all(of user: Messenger.User.ID, in db: Session) throws -> [Messenger.File.ID] {
        try db.all("SELECT id FROM files WHERE owner_id = \(user)") { try $0.get(0) }
    }

    fileprivate static func objectKeys(of user: Messenger.User.ID, in db: Session) throws -> [String] {
        try db.all("SELECT object_key FROM files WHERE owner_id = \(user)") { try $0.get(0) }
    }
}

extension Members {
    fileprivate static func chats(of user: Messenger.User.ID, in db: Session) throws -> [Messenger.Chat.ID] {
        try db.all("SELECT chat_id FROM members WHERE user_id = \(user) ORDER BY chat_id") { try $0.get(0) }
    }
}
