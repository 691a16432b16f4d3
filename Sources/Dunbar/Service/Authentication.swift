import Backend
import Contract
import ContractServer
import Database
import DunbarAPI
import Foundation
import HTTPTypes
import Identity
import Mail

extension DunbarService {
    func authentication(_ routes: inout Routes<Dunbar, Viewer>) {
        routes.open(answering: login)
        routes.open(answering: register)
        routes.open(answering: logout)
        routes.on(use: getCurrentUser)
        routes.open(use: verifyEmail)
    }

    func login(
        _ request: Dunbar.Login, _ info: RequestInfo
    ) async throws -> Answer<WithRelationship<Dunbar.Account>> {
        let now = time.milliseconds()
        // Looked up and counted in one go; the password is looked at outside, since it takes long.
        let (account, attempt) = try await database.write { [attempts] db in
            let account = try Users.credentials(request.username, in: db)
            let name = account.map { "user \($0.id)" } ?? "name \(Users.key(request.username))"
            return (account, try attempts.begin(account: name, from: info.address, at: now, in: db))
        }
        // The same work for a name that does not exist, so that the time does not tell.
        let matches = try await passwords.verify(request.password, against: account?.password)
        let refused = Problem(.unauthorized, "Invalid username or password")
        guard matches, let account else { throw refused }
        let token = sessions.makeToken()
        let user = try await database.write { [attempts, sessions, urls] db in
            guard let user = try Users.account(account.id, urls, in: db) else { throw refused }
            try sessions.begin(token, for: account.id, instead: info.headers, at: now, in: db)
            try attempts.succeed(attempt, at: now, in: db)
            return user
        }
        return Answer(.ok, WithRelationship(user.withoutVerification), headers: sessions.handingOut(token))
    }

    func register(
        _ request: Dunbar.Register, _ info: RequestInfo
    ) async throws -> Answer<WithRelationship<Dunbar.Account>> {
        typealias Output = WithRelationship<Dunbar.Account>
        let now = time.milliseconds()
        if let replay = try await database.replay(info.once, phrases: Dunbar.phrases, at: now, as: Output.self) {
            return try await signIn(again: replay, info, at: now).answer
        }
        try await database.write { [attempts] db in try attempts.register(from: info.address, at: now, in: db) }
        let password = try await passwords.hash(request.password)
        let (session, verification) = (sessions.makeToken(), RandomToken.make())
        let answer = try await database.write(info.once, phrases: Dunbar.phrases, at: now) { [sessions, urls] db in
            var user = try Users.insert(request, password: password, at: now, urls, in: db)
            try sessions.begin(session, for: user.id, instead: info.headers, at: now, in: db)
            try EmailTokens.insert(verification, of: user.id, at: now, in: db)
            user.message = "Please check your email to verify your account"
            return Answer(.created, WithRelationship(user), headers: sessions.handingOut(session))
        }
        let letter = MailMessage.verification(of: request.email.trimmed, link: urls.verification(verification))
        guard answer.isReplay else {
            outbox.post(letter)
            return answer
        }
        // A repeat that came meanwhile was faster, or this one was written before its connection was lost.
        let (replay, isOwn) = try await signIn(again: answer, info, at: now, checking: verification)
        if isOwn { outbox.post(letter) }
        return replay
    }

    /// The answer to a repeated registration, with a session of its own: nothing keeps the first one's token.
    ///
    /// - Parameter verification: The token of a letter.
    /// - Returns: Also whether that token was written.
    private func signIn(
        again replay: Answer<WithRelationship<Dunbar.Account>>, _ info: RequestInfo, at now: Int64,
        checking verification: String = ""
    ) async throws -> (answer: Answer<WithRelationship<Dunbar.Account>>, isKnown: Bool) {
        guard case .encoded(let body) = replay.content else { return (replay, false) }
        let user = try JSONDecoder().decode(WithRelationship<Dunbar.Account>.self, from: Data(body)).user.id
        let token = sessions.makeToken()
        let isKnown = try await database.write { [sessions] db in
            guard try Users.exists(user, in: db) else { throw Self.unauthorized }
            try sessions.begin(token, for: user, instead: info.headers, at: now, in: db)
            return try EmailTokens.user(of: verification, at: now, in: db) != nil
        }
        var answer = replay
        answer.headers.append(contentsOf: sessions.handingOut(token))
        return (answer, isKnown)
    }

    func logout(_ request: Dunbar.Logout, _ info: RequestInfo) async throws -> Answer<Dunbar.Confirmation> {
        try await database.write { [sessions] db in try sessions.end(info.headers, in: db) }
        return Answer(.ok, .init(message: "Logged out successfully"), headers: sessions.takingBack)
    }

    func getCurrentUser(
        _ request: Dunbar.GetCurrentUser, from viewer: Viewer
    ) async throws -> WithRelationship<Dunbar.Account> {
        let user = try await database.read { [urls] in try Users.account(viewer.user, urls, in: $0) }
        guard let user else { throw Self.unauthorized }
        return WithRelationship(user)
    }

    func verifyEmail(_ request: Dunbar.VerifyEmail, _ info: RequestInfo) async throws -> Dunbar.Confirmation {
        let now = time.milliseconds()
        try await database.write { db in
            guard let user = try EmailTokens.user(of: request.token, at: now, in: db) else {
                throw Problem(.badRequest, "Invalid or expired verification token")
            }
            try db.run("UPDATE users SET is_verified = 1 WHERE id = \(user)")
        }
        return .init(message: "Email verified")
    }
}

extension Answer {
    fileprivate var isReplay: Bool { headers[.idempotentReplayed] != nil }
}

extension Dunbar.Account {
    /// As every operation but one shows it.
    var withoutVerification: Self {
        var copy = self
        copy.emailVerified = nil
        return copy
    }
}

extension MailMessage {
    /// In plain ASCII, so that any mail program shows the link whole.
    fileprivate static func verification(of address: String, link: String) -> MailMessage {
        MailMessage(
            to: address, subject: "Verify your email address",
            text: """
                Welcome to Dunbar!

                Please verify your email address by opening this link:

                \(link)

                The link is good for 24 hours. If you did not register, you can ignore this message.
                """)
    }
}

/// What letters' links name: random, and kept as a hash alone.
enum EmailTokens {
    /// In milliseconds.
    static let lifetime: Int64 = 24 * 3_600_000

    static func insert(_ token: String, of user: Dunbar.User.ID, at now: Int64, in db: Session) throws {
        try db.run(
            """
            INSERT INTO email_tokens (hash, user_id, expires_at)
            VALUES (\(Digest.sha256(token)), \(user), \(now + lifetime))
            """)
    }

    static func user(of token: String, at now: Int64, in db: Session) throws -> Dunbar.User.ID? {
        try db.value(
            "SELECT user_id FROM email_tokens WHERE hash = \(Digest.sha256(token)) AND expires_at > \(now)")
    }

    static func sweep(at now: Int64, in db: Session) throws {
        try db.run("DELETE FROM email_tokens WHERE expires_at <= \(now)")
    }
}
