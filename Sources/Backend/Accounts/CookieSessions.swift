import Contract
import Database
import HTTPTypes
import Identity

/// Sessions in a cookie. The token is random and kept as its hash alone; a session ends 30 days after it was last used,
/// when its user signs out, and when they sign in anew with it.
public struct CookieSessions<User: SQLConvertible>: Sendable {
    /// In milliseconds.
    public static var lifetime: Int64 { 30 * day }
    private static var day: Int64 { 24 * 3_600_000 }

    private let database: Database
    private let cookie: SessionCookie
    private let time: TimeSource

    public init(database: Database, cookie: SessionCookie, time: TimeSource) {
        self.database = database
        self.cookie = cookie
        self.time = time
    }

    /// The table, for each API's schema. `user_id` is a number.
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

    /// Whose session a request came with.
    public struct Found: Sendable {
        public let user: User
        /// What the answer has to say: the cookie again, once a day.
        public let headers: HTTPFields
    }

    /// Nil for a cookie that is unknown, has expired or was ended, and for none.
    ///
    /// The database is asked each time: what was signed out is out at once, on every node.
    public func find(_ headers: HTTPFields) async throws -> Found? {
        guard let token = token(in: headers) else { return nil }
        let (hash, now) = (Digest.sha256(token), time.milliseconds())
        let session = try await database.read { db in
            try db.one("SELECT user_id, expires_at FROM sessions WHERE hash = \(hash) AND expires_at > \(now)") {
                (user: try $0.get(0, as: User.self), expiresAt: try $0.get(1, as: Int64.self))
            }
        }
        guard let session else { return nil }
        guard session.expiresAt < now + Self.lifetime - Self.day else { return Found(user: session.user, headers: [:]) }
        let isAlive = try await database.write { db in
            try db.run("UPDATE sessions SET expires_at = \(now + Self.lifetime) WHERE hash = \(hash)") > 0
        }
        return isAlive ? Found(user: session.user, headers: handingOut(token)) : nil
    }

    /// A token for a session that is about to begin.
    public func makeToken() -> String { RandomToken.make() }

    /// Begins a session, and ends the one that the request came with: nobody goes on in a session that somebody else may
    /// have put there.
    public func begin(_ token: String, for user: User, instead headers: HTTPFields, at now: Int64, in db: Session)
        throws
    {
        try end(headers, in: db)
        try db.run(
            """
            INSERT INTO sessions (hash, user_id, expires_at)
            VALUES (\(Digest.sha256(token)), \(user), \(now + Self.lifetime))
            """)
    }

    /// Ends the session that a request came with, if any.
    public func end(_ headers: HTTPFields, in db: Session) throws {
        guard let token = token(in: headers) else { return }
        try db.run("DELETE FROM sessions WHERE hash = \(Digest.sha256(token))")
    }

    /// Ends every session of a user.
    public func endAll(of user: User, in db: Session) throws {
        try db.run("DELETE FROM sessions WHERE user_id = \(user)")
    }

    /// What an answer says to hand out a token.
    public func handingOut(_ token: String) -> HTTPFields {
        [.setCookie: cookie.setting(token, for: Self.lifetime / 1000)]
    }

    /// What an answer says to take the cookie back.
    public var takingBack: HTTPFields { [.setCookie: cookie.clearing] }

    /// Forgets what has expired.
    public static func sweep(at now: Int64, in db: Session) throws {
        try db.run("DELETE FROM sessions WHERE expires_at <= \(now)")
    }

    private func token(in headers: HTTPFields) -> String? { cookie.token(in: headers[values: .cookie]) }
}
