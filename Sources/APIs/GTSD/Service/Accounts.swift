import Backend
import Contract
import ContractServer
import Database
import Foundation
import GTSDAPI
import HTTPTypes
import Identity
import ObjectStore

extension GTSDService {
    func accounts(_ routes: inout Routes<GTSD, Caller>) {
        routes.open(answering: signUp)
        routes.open(use: logIn)
        routes.on(use: getMe)
        routes.on(answering: deleteMe)
    }

    func signUp(
        _ request: GTSD.SignUp, _ info: RequestInfo
    ) async throws -> Answer<APIResponse<GTSD.SignedIn>> {
        let now = time.milliseconds()
        if let kept = try await database.replay(info.once, phrases: GTSD.phrases, at: now, as: KeptSignUp.self) {
            return try await answer(again: kept, to: info.address, at: now)
        }
        try await database.write { [attempts] db in try attempts.register(from: info.address, at: now, in: db) }
        let password = try await gate.hash(request.password, from: info.address)
        let (session, refreshToken) = (RandomToken.make(bytes: 16), RandomToken.make())
        let kept = try await database.write(info.once, phrases: GTSD.phrases, at: now) { [attempts] db in
            let user = try Accounts.insert(request, password: password, at: now, in: db)
            try Sessions.insert(session, of: user, refreshHash: Digest.sha256(refreshToken), at: now, in: db)
            try attempts.welcome(info.address, to: Accounts.attemptsName(user), at: now, in: db)
            try OnceOnly.note(info.once, about: [Self.callerName(user)], at: now, in: db)
            return Answer(.created, KeptSignUp(user: user))
        }
        if kept.headers[.idempotentReplayed] != nil {
            return try await answer(again: kept, to: info.address, at: now)
        }
        let user = try KeptSignUp(kept).user
        return Answer(.created, try await signedIn(user, session: session, refreshToken: refreshToken))
    }

    private func answer(
        again kept: Answer<KeptSignUp>, to address: ClientAddress, at now: Int64
    ) async throws -> Answer<APIResponse<GTSD.SignedIn>> {
        let user = try KeptSignUp(kept).user
        let (session, refreshToken) = (RandomToken.make(bytes: 16), RandomToken.make())
        try await database.write { [attempts] db in
            _ = try People.hold(user, at: now, in: db)
            try Sessions.insert(session, of: user, refreshHash: Digest.sha256(refreshToken), at: now, in: db)
            try attempts.welcome(address, to: Accounts.attemptsName(user), at: now, in: db)
        }
        return Answer(
            kept.status, try await signedIn(user, session: session, refreshToken: refreshToken), headers: kept.headers)
    }

    private func signedIn(
        _ user: Int64, session: String, refreshToken: String
    ) async throws -> APIResponse<GTSD.SignedIn> {
        guard let account = try await database.read({ try Accounts.one(user, in: $0) }) else {
            throw People.invalidToken
        }
        let access = try await accessToken(for: user, session: session)
        return APIResponse(.init(user: account, accessToken: access, refreshToken: refreshToken))
    }

    func logIn(_ request: GTSD.LogIn, _ info: RequestInfo) async throws -> APIResponse<GTSD.SignedIn> {
        let now = time.milliseconds()
        let email = GTSD.SignUp.normal(request.email)
        let (session, refreshToken) = (RandomToken.make(bytes: 16), RandomToken.make())
        let user = try await gate.judge(
            request.password, from: info.address, at: now,
            refusal: Problem(.unauthorized, "Invalid email or password"),
            find: { db in
                let account = try Accounts.credentials(email, in: db)
                let name = account.map { Accounts.attemptsName($0.id) } ?? Accounts.attemptsName(email)
                return .init(account, countedAs: name, password: account?.password)
            },
            proceed: { account, admission in
                try await database.write { db in
                    if !account.isDeactivated {
                        _ = try People.hold(account.id, at: now, in: db)
                        try Sessions.insert(
                            session, of: account.id, refreshHash: Digest.sha256(refreshToken), at: now, in: db)
                    }
                    try admission.settle(at: now, in: db)
                }
                guard !account.isDeactivated else { throw Self.deactivated }
                return account.id
            })
        return try await signedIn(user, session: session, refreshToken: refreshToken)
    }

    func getMe(_ request: GTSD.GetMe, from caller: Caller) async throws -> APIResponse<GTSD.User> {
        guard let account = try await database.read({ try Accounts.one(caller.user, in: $0) }) else {
            throw People.invalidToken
        }
        return APIResponse(account)
    }

    func deleteMe(
        _ request: GTSD.DeleteMe, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<APIResponse<NoData>> {
        let now = time.milliseconds()
        // Counted like a sign-in: a token that was stolen must not be a way to try passwords.
        let keys = try await gate.judge(
            request.password, from: info.address, at: now, refusal: Problem(.forbidden, "Invalid password"),
            find: { db in
                guard let password = try Accounts.password(of: caller.user, in: db) else { throw People.invalidToken }
                return .init(caller.user, countedAs: Accounts.attemptsName(caller.user), password: password)
            },
            proceed: { user, admission in
                try await database.write { db in
                    _ = try People.hold(user, at: now, in: db)
                    try admission.settle(isSignIn: false, at: now, in: db)
                    return try delete(user, in: db)
                }
            })
        await removeDiscarded(keys)
        return Answer(.ok, APIResponse(message: "Account deleted successfully"))
    }

    /// Removes an account with all that refers to it, the answers under its idempotency keys too.
    ///
    /// - Returns: The keys of its photos, which are to be removed from the store.
    private func delete(_ user: Int64, in db: Session) throws -> [String] {
        let keys = try Photos.keys(of: user, in: db)
        try Photos.discard(keys, in: db)
        let open: [String] = try db.all("SELECT id FROM sessions WHERE user_id = \(user)") { try $0.get(0) }
        for session in open { db.afterCommit { [sessions] in sessions.forget(session) } }
        let email: String? = try db.value("SELECT email FROM users WHERE id = \(user)")
        try db.run("DELETE FROM users WHERE id = \(user)")
        try attempts.forget(
            account: Accounts.attemptsName(user), names: email.map { [Accounts.attemptsName($0)] } ?? [], in: db)
        try Attempts.forget(uploadsBy: "\(user)", in: db)
        try RateLimits.forget(Self.requestKeys(of: user), in: db)
        try OnceOnly.forget(subject: Self.callerName(user), in: db)
        return keys
    }
}

/// What is kept of a sign-up under an `Idempotency-Key`: its repeat gets tokens of its own.
private struct KeptSignUp: Codable {
    let user: Int64

    init(user: Int64) { self.user = user }

    /// What was kept, or has just been.
    init(_ answer: Answer<KeptSignUp>) throws {
        switch answer.content {
        case .output(let kept): self = kept
        case .encoded(let bytes): self = try JSONDecoder().decode(Self.self, from: Data(bytes))
        }
    }
}

enum Accounts {
    /// Makes an account, with its streak.
    ///
    /// - Throws: 409 when the address is taken.
    static func insert(
        _ request: GTSD.SignUp, password: String, at now: Int64, in db: Session
    ) throws -> Int64 {
        let id: Int64? = try db.value(
            """
            INSERT INTO users (email, password, name, timezone, created_at, updated_at)
            VALUES (\(GTSD.SignUp.normal(request.email)), \(password), \(request.name?.trimmed),
                \(request.timezone ?? "UTC"), \(now), \(now))
            ON CONFLICT (email) DO NOTHING RETURNING id
            """)
        guard let id else { throw Problem(.conflict, "User with this email already exists") }
        try db.run("INSERT INTO streaks (user_id, created_at, updated_at) VALUES (\(id), \(now), \(now))")
        return id
    }

    static func one(_ id: Int64, in db: Session) throws -> GTSD.User? {
        try db.one(
            """
            SELECT u.id, u.email, u.created_at, u.updated_at, u.name, u.email_verified, p.user_id, u.timezone
            FROM users u LEFT JOIN profiles p ON p.user_id = u.id WHERE u.id = \(id)
            """
        ) { row in
            GTSD.User(
                id: .init(number: try row.get(0)), email: try row.get(1), createdAt: try row.get(2),
                updatedAt: try row.get(3), name: try row.get(4), emailVerified: try row.get(5),
                hasCompletedOnboarding: !row.isNull(6), timezone: try row.get(7))
        }
    }

    struct Credentials {
        let id: Int64
        let password: String
        let isDeactivated: Bool
    }

    static func credentials(_ email: String, in db: Session) throws -> Credentials? {
        try db.one("SELECT id, password, is_deactivated FROM users WHERE email = \(email)") { row in
            Credentials(id: try row.get(0), password: try row.get(1), isDeactivated: try row.get(2))
        }
    }

    /// What is kept of a password.
    static func password(of id: Int64, in db: Session) throws -> String? {
        try db.value("SELECT password FROM users WHERE id = \(id)")
    }

    /// What sign-ins to an account are counted under.
    static func attemptsName(_ id: Int64) -> String { "user \(id)" }

    /// What sign-ins to an address are counted under that nobody has.
    static func attemptsName(_ email: String) -> String { "email \(email)" }
}
