import Contract
import ContractServer
import Database
import Identity

/// The accounts of an API whose sessions are two tokens (`SessionAPI`), in one value: ``Accounts``, ``TokenSessions``,
/// ``RefreshTokens``, and ``RateLimits`` for what callers do.
///
/// ```swift
/// func signIn(_ request: PasswordSignIn<Guestbook>, _ info: RequestInfo) async throws -> SessionTokens<Users.ID> {
///     try await accounts.signIn(as: request.name, where: "name = \(request.name)", password: request.password, info)
/// }
/// ```
public struct SessionAccounts<Table: PasswordAccountTable>: Sendable
where Table.ID: Codable, Table.ID.RawValue == Int64 {
    public typealias ID = Table.ID

    /// The lifetime of a refresh token that a program does not choose: 30 days, in seconds.
    public static var month: Int64 { 30 * 86_400 }

    /// Sign-up, sign-in and the password asked for again.
    public let accounts: Accounts<Table>
    /// The sessions, and their access tokens.
    public let sessions: TokenSessions<ID>
    /// The sessions' refresh tokens.
    public let refreshTokens: RefreshTokens<ID>
    /// Limits on what a caller does within a minute.
    public let rates: RateLimits
    fileprivate let database: Database
    private let time: TimeSource
    private let secret: Secret

    /// - Parameters:
    ///   - key: The key that signs the tokens.
    ///   - access: The lifetime of an access token, in seconds.
    ///   - refresh: The time for which a session goes on after it began or was renewed, in seconds.
    public init(
        on platform: Platform, key: HostedKey, errorMessages: ErrorMessages, access: Int64 = 3600,
        refresh: Int64 = month
    ) throws {
        secret = try platform.secret(key)
        (database, time) = (platform.database, platform.time)
        accounts = Accounts(
            database: database, passwords: platform.passwords, secret: secret, errorMessages: errorMessages, time: time)
        sessions = TokenSessions(
            database: database, secret: secret, rules: .init(access: access, refresh: refresh, invalid: Table.gone),
            time: time)
        refreshTokens = RefreshTokens(sessions)
        rates = RateLimits(database, time: time)
    }

    /// The tables that a new API needs beside its own table of accounts, which comes first.
    ///
    /// These statements never change, since databases that have taken them are compared with them. A later version that
    /// needs another table has a list of its own, for a migration of its own.
    public static var tables: [String] {
        Accounts<Table>.tables + RefreshTokens<ID>.tables + RateLimits.tables
    }

    /// Makes an account, once per idempotency key. See ``Accounts/signUp(password:_:signsIn:_:)``.
    public func signUp<Output: Codable & Sendable>(
        password: String, _ info: RequestInfo,
        _ make: @escaping @Sendable (_ password: String, _ now: Int64, Session) throws -> (ID, Answer<Output>)
    ) async throws -> Answer<Output> {
        try await accounts.signUp(password: password, info, signsIn: false, make)
    }

    /// Signs in with a name and a password, and begins a session.
    ///
    /// - Parameters:
    ///   - login: What was typed, in the form in which names are compared.
    ///   - condition: Finds the account's row by it.
    /// - Throws: 429 with `Retry-After`; ``PasswordAccountTable/wrongSignIn``.
    public func signIn(
        as login: String, where condition: SQL, password: String, _ info: RequestInfo
    ) async throws -> SessionTokens<ID> {
        let session = NewSession()
        let user = try await accounts.signIn(as: login, where: condition, password: password, info) {
            [refreshTokens] user, now, db in
            try refreshTokens.begin(session, for: user, at: now, in: db)
            return user
        }
        return try await tokens(for: user, session: session.id, refreshToken: session.refreshToken)
    }

    /// Asks a signed-in caller for the password again, and runs a transaction that has locked the account: to delete it, or
    /// to change the password. See ``Accounts/confirm(_:of:_:_:)``.
    public func confirm<Output: Sendable>(
        _ password: String, of user: ID, _ info: RequestInfo,
        _ body: @escaping @Sendable (_ now: Int64, Session) throws -> Output
    ) async throws -> Output {
        try await accounts.confirm(password, of: user, info, body)
    }

    /// Ends the sessions of an account, and deletes what is kept of it in ``tables``. The transaction that deletes the
    /// account's row calls it.
    ///
    /// - Parameter logins: What is typed to sign in to it, in the form in which names are compared.
    public func forget(_ user: ID, logins: [String], in db: Session) throws {
        try sessions.endAll(of: user, in: db)
        try accounts.forget(user, logins: logins, in: db)
    }

    /// Exchanges a refresh token for the next pair.
    ///
    /// - Throws: 401 for a token that is unknown, has expired, or was used before.
    public func renew(_ refreshToken: String) async throws -> SessionTokens<ID> {
        let (now, new) = (time.milliseconds(), RandomToken.make())
        let exchange = try await database.write { [refreshTokens] db in
            try refreshTokens.exchange(refreshToken, for: new, at: now, in: db)
        }
        guard case .renewed(let user, let session) = exchange else { throw Table.gone }
        return try await tokens(for: user, session: session, refreshToken: new)
    }

    private func tokens(for user: ID, session: String, refreshToken: String) async throws -> SessionTokens<ID> {
        SessionTokens(
            accessToken: try await sessions.accessToken(for: user, session: session), refreshToken: refreshToken,
            expiresIn: Int(sessions.rules.access), user: user)
    }

    /// Ends the session of a refresh token. Nothing happens when there is none.
    public func signOut(_ refreshToken: String) async throws {
        try await database.write { [refreshTokens, sessions] db in
            guard let session = try refreshTokens.session(of: refreshToken, in: db) else { return }
            try sessions.end(session, in: db)
        }
    }

    /// Returns the caller behind `Authorization: Bearer …`.
    ///
    /// - Throws: 401.
    @Sendable public func caller(of info: RequestInfo) async throws -> Caller<ID> {
        try await sessions.caller(info.headers.bearerToken ?? "")
    }

    /// Returns the routes of an API whose callers are these accounts. They have the handlers of `SessionRenewal` and
    /// `SignOut`; that of `PasswordSignIn` calls ``signIn(as:where:password:_:)``.
    public func routes<API: SessionAPI>(of _: API.Type) -> Routes<API, Caller<ID>> where API.UserID == ID {
        var routes = Routes<API, Caller<ID>>(
            secrets: { [secret] in secret.bytes }, name: { Table.name(of: $0.user) }, authenticate: caller)
        routes.open { (request: SessionRenewal<API>, _) in try await renew(request.refreshToken) }
        routes.open { (request: SignOut<API>, _) in
            try await signOut(request.refreshToken)
            return Empty()
        }
        return routes
    }

    /// The times of ``tables``.
    ///
    /// - Parameter refresh: The time for which a session goes on after it began or was renewed, in seconds.
    public static func times(refresh: Int64 = month) -> [StoredTime] {
        let rules = TokenSessions<ID>.Rules(access: 0, refresh: refresh, invalid: Table.gone)
        return Accounts<Table>.times + RefreshTokens<ID>.times(rules) + RateLimits.times
    }

    /// Deletes what has expired in ``tables``.
    public func sweep() async throws {
        let now = time.milliseconds()
        let times = Self.times(refresh: sessions.rules.refresh)
        try await database.write { db in
            try StoredTimes.bringBack(times, at: now, in: db)
            try Accounts<Table>.sweep(at: now, in: db)
            try RefreshTokens<ID>.sweep(at: now, in: db)
            try RateLimits.sweep(at: now, in: db)
        }
    }
}

/// The service of an API whose accounts are ``SessionAccounts``, and that keeps everything in one database. It needs
/// ``HostedService/routes()``; ``HostedService/sockets()`` and ``HostedService/listen(_:)`` if it has live sockets.
public protocol SessionService: HostedService {
    associatedtype Table: PasswordAccountTable where Table.ID: Codable, Table.ID.RawValue == Int64

    var accounts: SessionAccounts<Table> { get }
}

extension SessionService {
    /// Checks the database.
    public func check() async -> [Health.Part] {
        [await Health.Part("database") { try await accounts.database.check() }]
    }

    /// The times of ``SessionAccounts/tables``. A service whose sessions last longer than 30 days gives its own.
    public static var storedTimes: [StoredTime] { SessionAccounts<Table>.times() }

    /// Deletes sessions, attempts and kept answers that have expired.
    public func sweep(limits: SweepLimits) async throws -> SweepReport {
        try await accounts.sweep()
        return SweepReport()
    }
}
