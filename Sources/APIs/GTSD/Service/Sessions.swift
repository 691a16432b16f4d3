import Backend
import Contract
import ContractServer
import Database
import GTSDAPI
import HTTPTypes
import Identity

/// Who asks.
public struct Caller: Sendable {
    let user: Int64
    let session: String
}

extension GTSDService {
    /// In seconds.
    static let accessLifetime: Int64 = 15 * 60
    /// In milliseconds.
    static let refreshLifetime: Int64 = 7 * 24 * 3_600_000
    /// How long a token that was used may come again, for an answer that was lost. In milliseconds.
    static let grace: Int64 = 10_000

    func renewals(_ routes: inout Routes<GTSD, Caller>) {
        routes.open(use: refresh)
        routes.open(use: logOut)
    }

    /// The caller behind `Authorization: Bearer …`; the scheme's case does not matter.
    func authenticate(_ info: RequestInfo) async throws -> Caller {
        let unknown = Problem(.unauthorized, "Authentication required")
        guard let header = info.headers[.authorization] else { throw unknown }
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.first?.lowercased() == "bearer" else { throw unknown }
        guard let caller = await claimed(by: parts.count > 1 ? String(parts[1]) : "") else {
            throw People.invalidToken
        }
        let now = time.milliseconds()
        let isAlive = try await sessions.check(caller.session) {
            let isDeactivated: Bool? = try await database.read { db in
                try db.value(
                    """
                    SELECT u.is_deactivated FROM sessions s JOIN users u ON u.id = s.user_id
                    WHERE s.id = \(caller.session) AND s.user_id = \(caller.user) AND s.expires_at > \(now)
                    """)
            }
            if isDeactivated == true { throw Self.deactivated }
            return isDeactivated != nil
        }
        guard isAlive else { throw People.invalidToken }
        return caller
    }

    static let deactivated = Problem(.forbidden, "Account is deactivated")

    /// Whom an access token names, whether or not their session is alive.
    private func claimed(by token: String, acceptingExpired: Bool = false) async -> Caller? {
        guard let claims = try? await tokens.verify(token, acceptingExpired: acceptingExpired),
            claims.kind == "access", let user = Int64(claims.subject)
        else { return nil }
        return Caller(user: user, session: claims.session)
    }

    func accessToken(for user: Int64, session: String) async throws -> String {
        let now = time.seconds
        return try await tokens.sign(
            TokenClaims(
                subject: String(user), kind: "access", issuedAt: now, expiresAt: now + Self.accessLifetime,
                id: RandomToken.make(bytes: 12), session: session))
    }

    func refresh(_ request: GTSD.Refresh, _ info: RequestInfo) async throws -> APIResponse<GTSD.RefreshedTokens> {
        let now = time.milliseconds()
        let (old, new) = (Digest.sha256(request.refreshToken), RandomToken.make())
        let rotation = try await database.write { [sessions] db in
            let rotation = try Sessions.rotate(old, to: Digest.sha256(new), at: now, in: db)
            // Whoever used it before or uses it now has stolen it.
            if case .reused(let session) = rotation { db.afterCommit { sessions.forget(session) } }
            return rotation
        }
        switch rotation {
        case .renewed(let user, let session):
            let access = try await accessToken(for: user, session: session)
            return APIResponse(.init(accessToken: access, refreshToken: new))
        case .deactivated: throw Self.deactivated
        case .refused, .reused: throw Problem(.unauthorized, "Invalid or expired refresh token")
        }
    }

    func logOut(_ request: GTSD.LogOut, _ info: RequestInfo) async throws -> APIResponse<NoData> {
        let header = info.headers[.authorization].map { $0.split(separator: " ", maxSplits: 1) } ?? []
        let bearer = header.count == 2 && header[0].lowercased() == "bearer" ? String(header[1]) : nil
        let refreshToken = request.refreshToken.flatMap { $0.isEmpty ? nil : $0 }
        guard refreshToken != nil || bearer != nil else { throw GTSD.LogOut.missingToken }
        var caller: Caller?
        // An app that was away for a while signs out with what it has.
        if let bearer { caller = await claimed(by: bearer, acceptingExpired: true) }
        try await database.write { [sessions, caller] db in
            var ended = caller.map { [$0.session] } ?? []
            if let refreshToken, let session = try Sessions.one(of: Digest.sha256(refreshToken), in: db) {
                ended.append(session)
            }
            for session in ended {
                try Sessions.end(session, in: db)
                db.afterCommit { sessions.forget(session) }
            }
        }
        return APIResponse(message: "Logged out successfully")
    }
}

enum Sessions {
    /// Begins a session with its first refresh token.
    static func insert(
        _ id: String, of user: Int64, refreshHash: [UInt8], at now: Int64, in db: Session
    ) throws {
        let until = now + GTSDService.refreshLifetime
        try db.run("INSERT INTO sessions (id, user_id, expires_at) VALUES (\(id), \(user), \(until))")
        try db.run(
            "INSERT INTO refresh_tokens (hash, session_id, expires_at) VALUES (\(refreshHash), \(id), \(until))")
    }

    enum Rotation {
        case renewed(user: Int64, session: String)
        /// Unknown or expired.
        case refused
        /// Of an account that is switched off: it stays good for when that is switched on again.
        case deactivated
        /// It was used before: the session has been ended.
        case reused(session: String)
    }

    /// Exchanges a refresh token for another.
    static func rotate(_ old: [UInt8], to new: [UInt8], at now: Int64, in db: Session) throws -> Rotation {
        guard let session = try one(of: old, in: db) else { return .refused }
        let until = now + GTSDService.refreshLifetime
        // Held, so that of two at once one is second.
        let holder: (user: Int64, isDeactivated: Bool)? = try db.one(
            """
            UPDATE sessions SET expires_at = expires_at WHERE id = \(session)
            RETURNING user_id, (SELECT u.is_deactivated FROM users u WHERE u.id = sessions.user_id)
            """
        ) { (try $0.get(0), try $0.get(1)) }
        let token: (expiresAt: Int64, usedAt: Int64?)? = try db.one(
            "SELECT expires_at, used_at FROM refresh_tokens WHERE hash = \(old)"
        ) { (try $0.get(0), try $0.get(1)) }
        guard let holder, let token, token.expiresAt > now else { return .refused }
        guard !holder.isDeactivated else { return .deactivated }
        if let usedAt = token.usedAt {
            let wentOn = try db.exists(
                "SELECT 1 FROM refresh_tokens WHERE session_id = \(session) AND parent = \(old) AND used_at IS NOT NULL"
            )
            guard now - usedAt < GTSDService.grace, !wentOn else {
                try end(session, in: db)
                return .reused(session: session)
            }
        } else {
            try db.run("UPDATE refresh_tokens SET used_at = \(now) WHERE hash = \(old)")
        }
        try db.run(
            """
            INSERT INTO refresh_tokens (hash, session_id, parent, expires_at)
            VALUES (\(new), \(session), \(old), \(until))
            """)
        try db.run("UPDATE sessions SET expires_at = \(until) WHERE id = \(session)")
        return .renewed(user: holder.user, session: session)
    }

    /// The session of a refresh token, used or not.
    static func one(of refreshHash: [UInt8], in db: Session) throws -> String? {
        try db.value("SELECT session_id FROM refresh_tokens WHERE hash = \(refreshHash)")
    }

    static func end(_ id: String, in db: Session) throws {
        try db.run("DELETE FROM sessions WHERE id = \(id)")
    }

    static func sweep(at now: Int64, in db: Session) throws {
        try db.run("DELETE FROM sessions WHERE expires_at <= \(now)")
        try db.run("DELETE FROM refresh_tokens WHERE expires_at <= \(now)")
    }
}
