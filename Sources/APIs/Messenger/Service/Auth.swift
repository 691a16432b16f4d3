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
        let password = try await gate.hash(request.password, from: info.address)
        return try await database.write(info.once, phrases: Messenger.phrases, at: now) { db in
            let user = try Users.insert(request, password: password, at: now, in: db)
            try OnceOnly.note(info.once, about: [Self.callerName(user.id)], at: now, in: db)
            return Answer(.created, user)
        }
    }

    func login(_ request: Messenger.Login, _ info: RequestInfo) async throws -> Messenger.Tokens {
        let now = time.milliseconds()
        let refused = Problem(.unauthorized, "Invalid credentials")
        return try await gate.judge(
            request.password, from: info.address, at: now, refusal: refused,
            find: { db in
                let account = try Users.credentials(request.username, in: db)
                let name =
                    account.map { Users.attemptsName($0.id) } ?? Users.attemptsName(Users.key(request.username))
                return .init(account?.id, countedAs: name, password: account?.password)
            },
            proceed: { user, admission in
                let session = RandomToken.make(bytes: 16)
                let refreshToken = try await sign(
                    "refresh", for: user, session: session, lifetime: Self.refreshLifetime)
                let accessToken = try await sign("access", for: user, session: session, lifetime: Self.accessLifetime)
                try await database.write { db in
                    try Sessions.insert(
                        session, of: user, refreshHash: Digest.sha256(refreshToken),
                        expiresAt: now + Self.refreshLifetime * 1000, in: db)
                    // Deleted while the password was looked at.
                    guard try Users.exists(user, in: db) else { throw refused }
                    try admission.settle(at: now, in: db)
                }
                return Messenger.Tokens(
                    accessToken: accessToken, refreshToken: refreshToken, expiresIn: Int(Self.accessLifetime),
                    user: user)
            })
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
