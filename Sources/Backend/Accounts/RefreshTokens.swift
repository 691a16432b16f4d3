import Contract
import Database
import Identity

/// Stores refresh tokens, which are exchanged for new ones at each use (RFC 6819 §5.2.2.3). Their hashes are in a table
/// of their own, besides the sessions of ``TokenSessions``. A token that is used a second time has been stolen, so its
/// session ends.
///
/// A token may be used again for a moment, because the first answer may have been lost. Of the tokens that were then made from
/// it, the one that is used first is its successor, and the others end: a session has one line of tokens.
public struct RefreshTokens<User: RawRepresentable & SQLConvertible & Hashable & Sendable>: Sendable
where User.RawValue == Int64 {
    private let sessions: TokenSessions<User>
    /// The time in milliseconds for which a used token is accepted again, because the first answer may have been lost.
    private let grace: Int64 = 10_000

    public init(_ sessions: TokenSessions<User>) { self.sessions = sessions }

    /// The statements that create the tables of sessions and tokens, for a new API's schema.
    public static var tables: [String] {
        [
            """
            CREATE TABLE sessions (
                id {KEY} PRIMARY KEY, user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
                expires_at BIGINT NOT NULL)
            """,
            "CREATE INDEX sessions_of_user ON sessions (user_id)",
            "CREATE INDEX sessions_age ON sessions (expires_at)",
            // The parent is the token that was exchanged for this one.
            """
            CREATE TABLE refresh_tokens (
                hash {BYTES} PRIMARY KEY,
                session_id {KEY} NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
                parent {BYTES}, expires_at BIGINT NOT NULL, used_at BIGINT)
            """,
            "CREATE INDEX refresh_tokens_of_session ON refresh_tokens (session_id)",
            "CREATE INDEX refresh_tokens_age ON refresh_tokens (expires_at)",
        ]
    }

    /// The times of the tables, but those at which tokens were used: these are only compared within the grace.
    public static func times(_ rules: TokenSessions<User>.Rules) -> [StoredTime] {
        TokenSessions<User>.times(rules)
            + [StoredTime("refresh_tokens", "expires_at", window: rules.refresh * 1000)]
    }

    /// Begins a session with its first refresh token.
    public func begin(_ session: NewSession, for user: User, at now: Int64, in db: Session) throws {
        let until = now + sessions.rules.refresh * 1000
        try db.run("INSERT INTO sessions (id, user_id, expires_at) VALUES (\(session.id), \(user), \(until))")
        try insert(session.refreshToken, of: session.id, parent: nil, until: until, in: db)
    }

    /// The result of using a refresh token.
    public enum Exchange: Sendable {
        case renewed(user: User, session: String)
        /// The token is unknown, has expired, or was used before. A session whose token was used before has been ended.
        case refused
    }

    /// Exchanges a refresh token for another.
    ///
    /// - Parameter admit: Throws when the account may not sign in; the token then stays valid.
    public func exchange(
        _ old: String, for new: String, at now: Int64, in db: Session,
        admit: (User, Session) throws -> Void = { _, _ in }
    ) throws -> Exchange {
        let hash = Digest.sha256(old)
        guard let session = try session(of: old, in: db) else { return .refused }
        // The second of two requests with the same token waits here, and finds it used.
        let user: User? = try db.lock("user_id", from: "sessions", where: "id = \(session)") { try $0.get(0) }
        let token: (expiresAt: Int64, usedAt: Int64?, parent: [UInt8]?)? = try db.one(
            "SELECT expires_at, used_at, parent FROM refresh_tokens WHERE hash = \(hash)"
        ) { (try $0.get(0), try $0.get(1), try $0.get(2)) }
        guard let user, let token, token.expiresAt > now else { return .refused }
        try admit(user, db)
        if let usedAt = token.usedAt {
            let wentOn = try db.exists(
                """
                SELECT 1 FROM refresh_tokens
                WHERE session_id = \(session) AND parent = \(hash) AND used_at IS NOT NULL
                """)
            guard abs(now - usedAt) < grace, !wentOn else {
                try sessions.end(session, in: db)
                return .refused
            }
        } else {
            try db.run("UPDATE refresh_tokens SET used_at = \(now) WHERE hash = \(hash)")
            if let parent = token.parent {
                try db.run(
                    """
                    DELETE FROM refresh_tokens
                    WHERE session_id = \(session) AND parent = \(parent) AND hash <> \(hash) AND used_at IS NULL
                    """)
            }
        }
        let until = now + sessions.rules.refresh * 1000
        try insert(new, of: session, parent: hash, until: until, in: db)
        try db.run("UPDATE sessions SET expires_at = \(until) WHERE id = \(session)")
        return .renewed(user: user, session: session)
    }

    /// Returns the session of a refresh token, used or not.
    public func session(of token: String, in db: Session) throws -> String? {
        try db.value("SELECT session_id FROM refresh_tokens WHERE hash = \(Digest.sha256(token))")
    }

    private func insert(_ token: String, of session: String, parent: [UInt8]?, until: Int64, in db: Session) throws {
        try db.run(
            """
            INSERT INTO refresh_tokens (hash, session_id, parent, expires_at)
            VALUES (\(Digest.sha256(token)), \(session), \(parent), \(until))
            """)
    }

    /// Deletes sessions and tokens that have expired.
    public static func sweep(at now: Int64, in db: Session) throws {
        try TokenSessions<User>.sweep(at: now, in: db)
        try db.run("DELETE FROM refresh_tokens WHERE expires_at <= \(now)")
    }
}
