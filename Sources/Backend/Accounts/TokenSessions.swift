import Contract
import Database
import Identity

/// The account of an access token.
public struct Caller<User: Sendable>: Sendable {
    public let user: User
    public let session: String
    /// The time at which the token expires, in Unix seconds.
    public let expiresAt: Int64

    public init(user: User, session: String, expiresAt: Int64) {
        self.user = user
        self.session = session
        self.expiresAt = expiresAt
    }
}

/// A session that is about to begin: a random id and a random refresh token.
public struct NewSession: Sendable {
    public let id: String
    public let refreshToken: String

    public init() {
        id = RandomToken.make(bytes: 16)
        refreshToken = RandomToken.make()
    }
}

/// Manages sessions with two tokens: a signed access token with a short lifetime, and a refresh token that is valid as
/// long as the session.
///
/// The table `sessions` has the columns `id`, `user_id` and `expires_at`. A session's row is deleted at a sign-out,
/// with its account, or when it has expired.
public struct TokenSessions<User: RawRepresentable & SQLConvertible & Hashable & Sendable>: Sendable
where User.RawValue == Int64 {
    /// A contract's rules for its tokens.
    public struct Rules: Sendable {
        /// The lifetime of an access token, in seconds.
        public var access: Int64
        /// The time in seconds for which a session lasts after it began or was renewed.
        public var refresh: Int64
        /// The error for a token that is not valid.
        public var invalid: Problem
        /// The error for a valid token of another kind.
        public var wrongKind: Problem

        /// - Parameter wrongKind: The error for a token of another kind; nil for the same as `invalid`.
        public init(access: Int64, refresh: Int64, invalid: Problem, wrongKind: Problem? = nil) {
            self.access = access
            self.refresh = refresh
            self.invalid = invalid
            self.wrongKind = wrongKind ?? invalid
        }
    }

    /// The times of the table `sessions`.
    public static func times(_ rules: Rules) -> [StoredTime] {
        [StoredTime("sessions", "expires_at", window: rules.refresh * 1000)]
    }

    /// Finds the user of a session. It returns nil for a session that has ended, and throws for an account that may not
    /// sign in.
    public typealias Owner = @Sendable (_ session: String, _ now: Int64, Session) throws -> User?

    public let rules: Rules
    private let database: Database
    private let tokens: TokenSigner
    private let time: TimeSource
    private let owner: Owner
    private let owners: TTLCache<String, User>

    /// Finds the user of a session that has not expired.
    public static func anyOwner(of session: String, at now: Int64, in db: Session) throws -> User? {
        try db.value("SELECT user_id FROM sessions WHERE id = \(session) AND expires_at > \(now)")
    }

    /// Makes the sessions of one API.
    ///
    /// - Parameters:
    ///   - secret: The key that signs the tokens, and a former one that is still accepted.
    ///   - issuer: The tokens' `iss` and `aud`; nil for tokens that name neither.
    ///   - owner: Finds the user of a session. By default it only queries the table `sessions`.
    public init(
        database: Database, secret: Secret, issuer: String? = nil, rules: Rules, time: TimeSource = .system,
        owner: @escaping Owner = Self.anyOwner
    ) {
        self.database = database
        self.rules = rules
        self.time = time
        self.owner = owner
        tokens = TokenSigner(secret: secret, issuer: issuer, now: { time.seconds })
        owners = TTLCache("sessions", time: time)
    }

    // MARK: Tokens

    /// Signs an access token.
    public func accessToken(for user: User, session: String) async throws -> String {
        try await sign("access", for: user, session: session, lifetime: rules.access)
    }

    /// Signs a token of a session.
    public func sign(_ kind: String, for user: User, session: String, lifetime: Int64) async throws -> String {
        let now = time.seconds
        return try await tokens.sign(
            TokenClaims(
                subject: String(user.rawValue), kind: kind, issuedAt: now, expiresAt: now + lifetime,
                id: RandomToken.make(bytes: 12), session: session))
    }

    /// Returns the claims of a signed token, whether or not its session exists; nil for a token that is not valid.
    ///
    /// An access token that seems to be valid for longer than its lifetime was made while a clock was ahead. It is refused, and
    /// the client renews it.
    ///
    /// - Parameter acceptingExpired: Whether an expired token is accepted, for signing out.
    public func claims(
        of token: String, acceptingExpired: Bool = false
    ) async -> (kind: String, caller: Caller<User>)? {
        guard let claims = try? await tokens.verify(token, acceptingExpired: acceptingExpired),
            let user = Int64(claims.subject).flatMap(User.init(rawValue:))
        else { return nil }
        let isAhead = claims.expiresAt > time.seconds + rules.access + StoredTimes.tolerance / 1000
        if isAhead, claims.kind == "access", !acceptingExpired { return nil }
        return (claims.kind, Caller(user: user, session: claims.session, expiresAt: claims.expiresAt))
    }

    /// Returns the caller of an access token, if the session exists.
    ///
    /// - Throws: A `Problem` with 401; the errors of finding the owner.
    public func caller(_ token: String) async throws -> Caller<User> {
        guard let (kind, caller) = await claims(of: token) else { throw rules.invalid }
        guard kind == "access" else { throw rules.wrongKind }
        guard try await isOpen(caller) else { throw rules.invalid }
        return caller
    }

    // MARK: Sessions

    /// Returns whether the caller's session exists. The database is queried at most once a second, so a session that is
    /// ended on another node ends here within a second.
    public func isOpen(_ caller: Caller<User>) async throws -> Bool {
        try await owners.value(for: caller.session) { try await look(for: caller.session) } == caller.user
    }

    /// Returns whether the caller's session exists, by a query of the database. It is for sockets, which do not check
    /// again.
    public func isOpenNow(_ caller: Caller<User>) async throws -> Bool {
        try await owners.renew(caller.session) { try await look(for: caller.session) } == caller.user
    }

    /// Returns the time until the caller's token expires, in seconds; not below zero.
    func secondsLeft(of caller: Caller<User>) -> Int64 { max(0, caller.expiresAt - time.seconds) }

    private func look(for session: String) async throws -> User? {
        let now = time.milliseconds()
        return try await database.read { [owner] in try owner(session, now, $0) }
    }

    /// Ends a session, on this node as soon as the transaction commits.
    public func end(_ session: String, in db: Session) throws {
        try db.run("DELETE FROM sessions WHERE id = \(session)")
        db.afterCommit { self.forget(session) }
    }

    /// Ends all sessions of a user, on this node as soon as the transaction commits.
    ///
    /// - Returns: The ids of the sessions.
    @discardableResult
    public func endAll(of user: User, in db: Session) throws -> [String] {
        try endAll(of: user, where: "1 = 1", in: db)
    }

    /// Ends all sessions of a user but one, on this node as soon as the transaction commits.
    ///
    /// - Returns: The ids of the sessions that have ended.
    @discardableResult
    public func endAll(of user: User, except kept: String, in db: Session) throws -> [String] {
        try endAll(of: user, where: "id <> \(kept)", in: db)
    }

    private func endAll(of user: User, where condition: SQL, in db: Session) throws -> [String] {
        let ended: [String] = try db.all(
            "DELETE FROM sessions WHERE user_id = \(user) AND \(condition) RETURNING id"
        ) { try $0.get(0) }
        for session in ended { db.afterCommit { self.forget(session) } }
        return ended
    }

    /// Makes this node ask the database again about a user's sessions, as soon as the transaction commits.
    ///
    /// - Returns: The ids of the sessions.
    public func lookAgain(at user: User, in db: Session) throws -> [String] {
        let ids: [String] = try db.all("SELECT id FROM sessions WHERE user_id = \(user)") { try $0.get(0) }
        for session in ids { db.afterCommit { self.forget(session) } }
        return ids
    }

    /// Ends some of all sessions, for an operator who signs everybody out.
    ///
    /// - Returns: The ids of the sessions; none when all have ended.
    public static func endSome(in db: Session) throws -> [String] {
        try db.all("DELETE FROM sessions WHERE id IN (SELECT id FROM sessions LIMIT 500) RETURNING id") {
            try $0.get(0)
        }
    }

    /// Drops a session from the cache, because another node has ended it.
    public func forget(_ session: String) { owners.remove(session) }

    /// Deletes sessions that have expired.
    public static func sweep(at now: Int64, in db: Session) throws {
        try db.run("DELETE FROM sessions WHERE expires_at <= \(now)")
    }
}
