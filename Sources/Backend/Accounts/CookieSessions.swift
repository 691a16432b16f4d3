import Contract
import ContractServer
import Database
import HTTPTypes
import Identity

/// Stores sessions whose tokens are in cookies. The token is random, and only its hash is stored. A session ends 30
/// days after its last use, when its user signs out, and when the user signs in again with the same cookie. The last use of
/// each is noted to an hour (``SessionNotes``).
public struct CookieSessions<User: SQLConvertible>: Sendable {
    /// The time in milliseconds after which an unused session ends.
    public static var lifetime: Int64 { 30 * day }
    private static var day: Int64 { 24 * hour }
    private static var hour: Int64 { 3_600_000 }

    private let database: Database
    private let cookie: SessionCookie
    private let time: TimeSource
    private let admit: Admission

    /// Throws the API's refusal for an account that may not be used now.
    public typealias Admission = @Sendable (_ user: User, _ now: Int64, Session) throws -> Void

    /// - Parameters:
    ///   - admit: Decides about the user of each session that is found.
    public init(
        database: Database, cookie: SessionCookie, time: TimeSource,
        admit: @escaping Admission = { _, _, _ in }
    ) {
        self.database = database
        self.cookie = cookie
        self.time = time
        self.admit = admit
    }

    /// The statements that create the table, for an API's schema. `user_id` is a number.
    public static var table: [String] {
        [
            """
            CREATE TABLE sessions (
                hash {BYTES} NOT NULL PRIMARY KEY, user_id BIGINT NOT NULL, expires_at BIGINT NOT NULL)
            """,
            "CREATE INDEX sessions_of_user ON sessions (user_id)",
            "CREATE INDEX sessions_age ON sessions (expires_at)",
        ]
    }

    /// The times of the table.
    public static var times: [StoredTime] { [StoredTime("sessions", "expires_at", window: lifetime)] }

    /// The account of a request's session.
    public struct Caller: Sendable {
        public let user: User
        /// The headers for the answer, which renew the cookie once a day.
        public let headers: HTTPFields
        /// The hash of the session's token.
        let hash: [UInt8]
    }

    /// Returns the caller; nil when there is no cookie, or each is unknown, expired or signed out. Of several cookies the first
    /// that is a session counts.
    ///
    /// Each call queries the database, so that a session that was signed out ends at once, on every node.
    ///
    /// - Parameter address: The client's address, which is noted with the session's use.
    /// - Throws: What the admission of the session's user throws.
    public func caller(_ headers: HTTPFields, from address: ClientAddress? = nil) async throws -> Caller? {
        let tokens = tokens(in: headers).map { (text: $0, hash: Digest.sha256($0)) }
        if tokens.isEmpty { return nil }
        let now = time.milliseconds()
        typealias Found = (token: String, hash: [UInt8], user: User, expiresAt: Int64, usedAt: Int64?)
        let found: Found? = try await database.read { [admit] db in
            for (token, hash) in tokens {
                let session: (user: User, expiresAt: Int64, usedAt: Int64?)? = try db.one(
                    "SELECT user_id, expires_at, used_at FROM sessions WHERE hash = \(hash) AND expires_at > \(now)"
                ) { (try $0.get(0), try $0.get(1), try $0.get(2)) }
                guard let session else { continue }
                try admit(session.user, now, db)
                return (token, hash, session.user, session.expiresAt, session.usedAt)
            }
            return nil
        }
        guard let session = found else { return nil }
        if let address, abs(now - (session.usedAt ?? 0)) >= Self.hour {
            // The request goes on where this cannot be noted now.
            try? await database.write { db in
                try SessionNotes.use("hash = \(session.hash)", from: address, at: now, in: db)
            }
        }
        let end = now + Self.lifetime
        // A session that seems to last longer than it can was renewed while a clock was ahead.
        guard !(end - Self.day...end + StoredTimes.tolerance ~= session.expiresAt) else {
            return Caller(user: session.user, headers: [:], hash: session.hash)
        }
        let isAlive = try await database.write { db in
            try db.run("UPDATE sessions SET expires_at = \(end) WHERE hash = \(session.hash)") > 0
        }
        guard isAlive else { return nil }
        return Caller(user: session.user, headers: settingCookie(session.token), hash: session.hash)
    }

    /// Returns a random token for a session that is about to begin.
    public func makeToken() -> String { RandomToken.make() }

    /// Begins a session, and ends those of the request. An attacker may have planted the request's cookies (session
    /// fixation).
    public func begin(_ token: String, for user: User, replacing headers: HTTPFields, at now: Int64, in db: Session)
        throws
    {
        try end(headers, in: db)
        try db.run(
            """
            INSERT INTO sessions (hash, user_id, expires_at)
            VALUES (\(Digest.sha256(token)), \(user), \(now + Self.lifetime))
            """)
    }

    /// Ends every session that a request came with: a browser that is signed out must not go on with another cookie.
    public func end(_ headers: HTTPFields, in db: Session) throws {
        for token in tokens(in: headers) {
            try db.run("DELETE FROM sessions WHERE hash = \(Digest.sha256(token))")
        }
    }

    /// Ends every session of a user.
    ///
    /// - Returns: The number of sessions.
    @discardableResult
    public func endAll(of user: User, in db: Session) throws -> Int {
        try db.run("DELETE FROM sessions WHERE user_id = \(user)")
    }

    /// Ends every session of a caller's user but the caller's own.
    public func endOthers(of caller: Caller, in db: Session) throws {
        try db.run("DELETE FROM sessions WHERE user_id = \(caller.user) AND hash <> \(caller.hash)")
    }

    /// Ends every session, for an operator who signs everybody out.
    ///
    /// - Returns: The number of sessions.
    public static func endAll(in db: Session) throws -> Int { try db.run("DELETE FROM sessions") }

    /// Returns the header that sets the cookie with a token.
    public func settingCookie(_ token: String) -> HTTPFields {
        [.setCookie: cookie.setting(token, for: Self.lifetime / 1000)]
    }

    /// The header that removes the cookie.
    public var clearingCookie: HTTPFields { [.setCookie: cookie.clearing] }

    /// Deletes sessions that have expired.
    public static func sweep(at now: Int64, in db: Session) throws {
        try db.run("DELETE FROM sessions WHERE expires_at <= \(now)")
    }

    private func tokens(in headers: HTTPFields) -> [String] { cookie.tokens(in: headers[values: .cookie]) }
}
