import Backend
import Contract
import ContractServer
import Database
import Foundation
import HTTPTypes
import Identity
import MessengerAPI

extension MessengerService {
    func auth(_ routes: inout Routes<Messenger, Messenger.User.ID>) {
        routes.open(answering: register)
        routes.open(use: login)
        routes.open(use: refresh)
        routes.open(use: logout)
        routes.on(use: getMe)
    }

    func register(
        _ request: Messenger.Register, _ info: RequestInfo
    ) async throws -> Answer<Messenger.Registered> {
        let now = time.milliseconds()
        if let replay = try await database.replay(
            info.once, phrases: Messenger.phrases, at: now, as: Messenger.Registered.self)
        {
            return replay
        }
        try await database.write { [attempts] db in try attempts.register(from: info.address, at: now, in: db) }
        let password = try await passwords.hash(request.password)
        return try await database.write(info.once, phrases: Messenger.phrases, at: now) { db in
            Answer(.created, try Users.insert(request, password: password, at: now, in: db))
        }
    }

    func login(_ request: Messenger.Login, _ info: RequestInfo) async throws -> Messenger.Tokens {
        let now = time.milliseconds()
        // Looked up and counted in one go; the password is looked at outside, since it takes long.
        let (account, attempt) = try await database.write { [attempts] db in
            let account = try Users.credentials(request.username, in: db)
            let name = account.map { "user \($0.id)" } ?? "name \(Users.key(request.username))"
            return (account, try attempts.begin(account: name, from: info.address, at: now, in: db))
        }
        // The same work for a name that does not exist, so that the time does not tell.
        let matches = try await passwords.verify(request.password, against: account?.password)
        guard matches, let account else { throw Problem(.unauthorized, "Invalid credentials") }

        let session = RandomToken.make(bytes: 16)
        let refreshToken = try await sign("refresh", for: account.id, session: session, lifetime: Self.refreshLifetime)
        let accessToken = try await sign("access", for: account.id, session: session, lifetime: Self.accessLifetime)
        try await database.write { [attempts] db in
            try Sessions.insert(
                session, of: account.id, refreshHash: Digest.sha256(refreshToken),
                expiresAt: now + Self.refreshLifetime * 1000, in: db)
            // Deleted while the password was looked at.
            guard try Users.exists(account.id, in: db) else { throw Problem(.unauthorized, "Invalid credentials") }
            try attempts.succeed(attempt, at: now, in: db)
        }
        return Messenger.Tokens(
            accessToken: accessToken, refreshToken: refreshToken, expiresIn: Int(Self.accessLifetime), user: account.id)
    }

    func refresh(_ request: Messenger.Refresh, _ info: RequestInfo) async throws -> Messenger.RefreshedToken {
        let invalid = Problem(.unauthorized, "Invalid or expired refresh token")
        guard let claims = try? await tokens.verify(request.refreshToken), claims.kind == "refresh",
            let id = Int64(claims.subject)
        else { throw invalid }
        let (hash, now) = (Digest.sha256(request.refreshToken), time.milliseconds())
        let alive = try await database.read {
            try Sessions.isAlive(claims.session, refreshHash: hash, at: now, in: $0)
        }
        guard alive else { throw invalid }
        let token = try await sign("access", for: .init(id), session: claims.session, lifetime: Self.accessLifetime)
        return .init(accessToken: token, expiresIn: Int(Self.accessLifetime))
    }

    func logout(_ request: Messenger.Logout, _ info: RequestInfo) async throws -> Empty {
        let hash = Digest.sha256(request.refreshToken)
        try await database.write { db in
            guard let session = try Sessions.end(refreshHash: hash, in: db) else { return }
            db.afterCommit { sessions.forget(session) }
            try announce(.sessionEnded(session), in: db)
        }
        return Empty()
    }

    func getMe(_ request: Messenger.GetMe, from user: Messenger.User.ID) async throws -> Messenger.Account {
        let account = try await database.read { try Users.account(user, in: $0) }
        guard let account else { throw Sessions.invalidToken }
        return account
    }

    private func sign(
        _ kind: String, for user: Messenger.User.ID, session: String, lifetime: Int64
    ) async throws -> String {
        let now = time.seconds
        return try await tokens.sign(
            TokenClaims(
                subject: user.description, kind: kind, issuedAt: now, expiresAt: now + lifetime,
                id: RandomToken.make(bytes: 12), session: session))
    }
}
