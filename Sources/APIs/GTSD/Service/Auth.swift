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
    func auth(_ routes: inout Routes<GTSD, Caller>) {
        routes.open(answering: signUp)
        routes.open(use: logIn)
        routes.on(use: getMe)
        routes.on(use: updateMe)
        routes.on(answering: changePassword)
        routes.on(answering: deleteMe)
        routes.open(use: refresh)
        routes.open(use: logOut)
    }

    func signUp(
        _ request: GTSD.SignUp, _ info: RequestInfo
    ) async throws -> Answer<APIResponse<GTSD.SignedIn>> {
        try people.requireKnown(zone: request.timezone)
        let (session, origin) = (NewSession(), SessionOrigin(device: request.deviceName, info))
        let applicant = Applicant(
            email: request.email, acceptedTerms: request.acceptedTerms, invitationCode: request.invitationCode)
        let kept = try await accounts.signUp(password: request.password, info, applicant: applicant, signsIn: true) {
            password, now, db in
            let user = try Users.insert(request, password: password, at: now, in: db)
            try self.begin(session, for: user, origin, at: now, in: db)
            return (user, Answer(.created, StoredSignUp(user: user)))
        }
        let user = try kept.decoded().user
        if kept.isReplay {
            // A repeat receives new tokens, unless the account has another password by now.
            try await accounts.signIn(to: user, password: request.password, info) { now, db in
                try self.begin(session, for: user, origin, at: now, in: db)
            }
        }
        return Answer(kept.status, try await signedIn(user, session), headers: kept.headers)
    }

    private func begin(
        _ session: NewSession, for user: UserID, _ origin: SessionOrigin, at now: Int64, in db: Session
    ) throws {
        try refreshTokens.begin(session, for: user, at: now, in: db)
        try sessions.note(origin, of: session.id, at: now, in: db)
    }

    private func signedIn(_ user: UserID, _ session: NewSession) async throws -> APIResponse<GTSD.SignedIn> {
        guard let account = try await database.read({ try Users.one(user, in: $0) }) else { throw Users.gone }
        let access = try await sessions.accessToken(for: user, session: session.id)
        return APIResponse(.init(user: account, accessToken: access, refreshToken: session.refreshToken))
    }

    func logIn(_ request: GTSD.LogIn, _ info: RequestInfo) async throws -> APIResponse<GTSD.SignedIn> {
        let (email, session) = (GTSD.SignUp.normal(request.email), NewSession())
        let origin = SessionOrigin(device: request.deviceName, info)
        let user = try await accounts.signIn(
            as: email, where: "email = \(email)", password: request.password, info
        ) { user, now, db in
            try self.begin(session, for: user, origin, at: now, in: db)
            return user
        }
        return try await signedIn(user, session)
    }

    func getMe(_ request: GTSD.GetMe, from caller: Caller) async throws -> APIResponse<GTSD.User> {
        guard let account = try await database.read({ try Users.one(caller.user, in: $0) }) else {
            throw Users.gone
        }
        return APIResponse(account)
    }

    func updateMe(_ request: GTSD.UpdateMe, from caller: Caller) async throws -> APIResponse<GTSD.User> {
        try people.requireKnown(zone: request.timezone)
        let now = time.milliseconds()
        let account = try await database.write { [people] db in
            let user = caller.user
            let before = try people.lockForChange(user, at: now, in: db)
            if let zone = request.timezone { try people.move(before, to: zone, at: now, in: db) }
            if let name = request.name?.trimmed { try db.run("UPDATE users SET name = \(name) WHERE id = \(user)") }
            if request.name != nil || request.timezone != nil {
                try db.run("UPDATE users SET updated_at = \(now) WHERE id = \(user)")
            }
            return try Users.one(user, in: db)
        }
        guard let account else { throw Users.gone }
        return APIResponse(account)
    }

    func changePassword(
        _ request: GTSD.ChangePassword, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<APIResponse<NoData>> {
        try await accounts.changePassword(
            of: caller.user, from: request.currentPassword, to: request.newPassword, info
        ) { [sessions] _, db in
            try sessions.endAll(of: caller.user, except: caller.session, in: db)
            try AccountEmails<Users>.endResets(of: caller.user, in: db)
            return Answer(.ok, APIResponse(message: "Password changed successfully"))
        }
    }

    func deleteMe(
        _ request: GTSD.DeleteMe, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<APIResponse<NoData>> {
        let keys = try await accounts.confirm(request.password, of: caller.user, info) { now, db in
            try self.delete(caller.user, in: db)
        }
        await removeDiscarded(keys)
        return Answer(.ok, APIResponse(message: "Account deleted successfully"))
    }

    /// Deletes an account whose row is locked, with everything that refers to it.
    ///
    /// - Returns: The keys of its photos, which must be removed from the store.
    func delete(_ user: UserID, in db: Session) throws -> [String] {
        let keys = try Photos.keys(of: user, in: db)
        try Photos.discard(keys, in: db)
        try archives.forget(user, in: db)
        try sessions.endAll(of: user, in: db)
        let email: String? = try db.value("SELECT email FROM users WHERE id = \(user)")
        try AccountEmails<Users>.forget(user, accounts.throttle, in: db)
        try db.run("DELETE FROM users WHERE id = \(user)")
        try accounts.forget(user, logins: [email].compactMap(\.self), email: email, in: db)
        try RateLimits.forget(Self.requestKeys(of: user), in: db)
        return keys
    }
}

/// The part of a sign-up's answer that is stored under an `Idempotency-Key`. The tokens are not stored.
private struct StoredSignUp: Codable {
    let user: UserID
}

/// The rows of `users` as accounts: how one is added, found at sign-in, locked and deleted. What a handler reads of a signed-in
/// user is a ``Person``.
enum Users: PasswordAccountTable {
    typealias ID = UserID

    static let gone = Problem(.unauthorized, "Invalid or expired token")
    static let wrongSignIn = Problem(.unauthorized, "Invalid email or password")
    static let wrongPassword = Problem(.forbidden, "Invalid password")
    static let taken = Problem(.conflict, "User with this email already exists")

    /// Adds an account with its streak.
    ///
    /// - Throws: A `Problem` with 409 when the address is taken.
    static func insert(
        _ request: GTSD.SignUp, password: String, at now: Int64, in db: Session
    ) throws -> UserID {
        let id: UserID? = try db.insert(
            """
            INSERT INTO users (email, password, name, timezone, created_at, updated_at)
            VALUES (\(GTSD.SignUp.normal(request.email)), \(password), \(request.name?.trimmed),
                \(request.timezone ?? "UTC"), \(now), \(now))
            ON CONFLICT (email) DO NOTHING
            """)
        guard let id else { throw taken }
        try db.run("INSERT INTO streaks (user_id, created_at, updated_at) VALUES (\(id), \(now), \(now))")
        return id
    }

    /// The columns of a user `u` with a profile `p`.
    private enum Column: String, Columns {
        case id = "u.id"
        case email = "u.email"
        case createdAt = "u.created_at"
        case updatedAt = "u.updated_at"
        case name = "u.name"
        case emailVerified = "u.email_verified"
        case profile = "p.user_id"
        case timezone = "u.timezone"

        static let list = ColumnList(Self.self)
    }

    static func one(_ id: UserID, in db: Session) throws -> GTSD.User? {
        try db.one(
            """
            SELECT \(Column.list)
            FROM users u LEFT JOIN profiles p ON p.user_id = u.id WHERE u.id = \(id)
            """
        ) { row in
            GTSD.User(
                id: .init(try row.get(Column.id, as: UserID.self)), email: try row.get(Column.email),
                createdAt: try row.get(Column.createdAt),
                updatedAt: try row.get(Column.updatedAt), name: try row.get(Column.name),
                emailVerified: try row.get(Column.emailVerified),
                hasCompletedOnboarding: !row.isNull(Column.profile), timezone: try row.get(Column.timezone))
        }
    }
}
