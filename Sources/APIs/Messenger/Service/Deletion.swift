import Backend
import Contract
import ContractServer
import Database
import MessengerAPI
import ObjectStore

extension MessengerService {
    /// So many stored objects go before the answer; the rest goes with the next sweep.
    static let objectsRemovedAtOnce = 100

    func deleteMe(
        _ request: Messenger.DeleteMe, from caller: Messenger.User.ID, _ info: RequestInfo
    ) async throws -> Answer<Empty> {
        let now = time.milliseconds()
        // Counted like a sign-in: whoever has found a phone that is unlocked must not be able to try passwords here.
        let removed = try await gate.judge(
            request.password, from: info.address, at: now, refusal: Problem(.forbidden, "Invalid password"),
            find: { db in
                let password = try Users.password(of: caller, in: db)
                return .init(caller, countedAs: Users.attemptsName(caller), password: password)
            },
            proceed: { caller, admission in
                try await database.write { db in
                    let removed = try delete(caller, at: now, in: db)
                    try admission.settle(isSignIn: false, at: now, in: db)
                    return removed
                }
            })
        for key in removed.prefix(Self.objectsRemovedAtOnce).compactMap(ObjectKey.init) {
            // What cannot be removed now no row names any more, so a sweep will.
            try? await objects.delete(key)
        }
        return Answer(.noContent, Empty())
    }

    /// Deletes a user, with what follows from it.
    ///
    /// - Returns: the keys of stored objects that no file names any more.
    private func delete(_ user: Messenger.User.ID, at now: Int64, in db: Session) throws -> [String] {
        let stored = try Files.objectKeys(of: user, in: db)
        // Chats first, as all who change one and then look at its people do: two of a group may go at once.
        try leaveChats(user, in: db)
        // Whatever makes something for this user waits here, or has done so: there may be another chat by now.
        let names = try Users.empty(user, at: now, in: db)
        try leaveChats(user, in: db)
        for session in try Sessions.end(of: user, in: db) {
            db.afterCommit { sessions.forget(session) }
            try announce(.sessionEnded(session), in: db)
        }
        try Blocks.forget(user, in: db)
        try Reports.forget(user, in: db)
        try Attempts.forget(uploadsBy: "\(user)", in: db)
        try OnceOnly.forget(subject: Self.callerName(user), in: db)
        try attempts.forget(account: Users.attemptsName(user), names: names.map(Users.attemptsName), in: db)
        try Files.release(Files.all(of: user, in: db), in: db)
        let kept = Set(try Files.objectKeys(of: user, in: db))
        return stored.filter { !kept.contains($0) }
    }

    private func leaveChats(_ user: Messenger.User.ID, in db: Session) throws {
        for chat in try Members.chats(of: user, in: db) {
            // It may have ended while this one waited.
            guard let change = try ChatChange.begin(in: chat, by: user, db) else { continue }
            try endMembership(of: user, change, in: db)
        }
    }
}

extension Users {
    fileprivate static func password(of user: Messenger.User.ID, in db: Session) throws -> String {
        let password: String? = try db.value("SELECT password FROM users WHERE id = \(user) AND \(isPresent)")
        guard let password else { throw Sessions.invalidToken }
        return password
    }

    /// Takes all that is personal out of a user's row. The row itself stays: messages and files of theirs may.
    ///
    /// - Returns: The keys of their username and address.
    /// - Throws: 401 when somebody else has done it.
    fileprivate static func empty(_ user: Messenger.User.ID, at now: Int64, in db: Session) throws -> [String] {
        try UserSearch.remove(user.rawValue, in: db)
        let keys = try db.one("SELECT username_key, email_key FROM users WHERE id = \(user)") {
            [try $0.get(0, as: String.self), try $0.get(1)]
        }
        // No username has an "@", and no address is without one: these keys are nobody's.
        let isDone = try db.run(
            """
            UPDATE users SET deleted_at = \(now), username = '', username_key = \("@\(user)"), email = '',
                email_key = \("\(user)"), display_name = '', display_key = '', bio = NULL, avatar_file_id = NULL,
                password = '', folded_name = NULL
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
