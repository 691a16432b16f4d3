import Backend
import Contract
import ContractServer
import Database
import GTSDAPI
import HTTPTypes
import Identity

/// A user's id as the database has it. On the wire it is text.
public typealias UserID = Identifier<GTSD.User>
public typealias Caller = Backend.Caller<UserID>

extension GTSDService {
    static let sessionRules = TokenSessions<UserID>.Rules(
        access: 15 * 60, refresh: 7 * 24 * 3600, invalid: Users.gone)

    /// Returns the user of a session, and throws 403 when the account is deactivated.
    @Sendable static func owner(of session: String, at now: Int64, in db: Session) throws -> UserID? {
        let owner: (id: UserID, isDeactivated: Bool)? = try db.one(
            """
            SELECT u.id, u.is_deactivated FROM sessions s JOIN users u ON u.id = s.user_id
            WHERE s.id = \(session) AND s.expires_at > \(now)
            """
        ) { (try $0.get(0), try $0.get(1)) }
        if owner?.isDeactivated == true { throw GTSD.deactivated }
        return owner?.id
    }

    /// Returns the caller behind `Authorization: Bearer …`.
    func authenticate(_ info: RequestInfo) async throws -> Caller {
        guard let token = info.headers.bearerToken else { throw Problem(.unauthorized, "Authentication required") }
        return try await sessions.caller(token)
    }

    func refresh(_ request: GTSD.Refresh, _ info: RequestInfo) async throws -> APIResponse<GTSD.RefreshedTokens> {
        let (now, new) = (time.milliseconds(), RandomToken.make())
        let exchange = try await database.write { [refreshTokens] db in
            try refreshTokens.exchange(request.refreshToken, for: new, at: now, in: db, admit: Users.requireActive)
        }
        guard case .renewed(let user, let session) = exchange else {
            throw Problem(.unauthorized, "Invalid or expired refresh token")
        }
        let access = try await sessions.accessToken(for: user, session: session)
        return APIResponse(.init(accessToken: access, refreshToken: new))
    }

    func logOut(_ request: GTSD.LogOut, _ info: RequestInfo) async throws -> APIResponse<NoData> {
        let bearer = info.headers.bearerToken.flatMap { $0.isEmpty ? nil : $0 }
        let refreshToken = request.refreshToken.flatMap { $0.isEmpty ? nil : $0 }
        guard refreshToken != nil || bearer != nil else { throw GTSD.LogOut.missingToken }
        var caller: Caller?
        // An app that was not used for a while signs out with an expired token.
        if let bearer, let (kind, claimed) = await sessions.claims(of: bearer, acceptingExpired: true), kind == "access"
        {
            caller = claimed
        }
        try await database.write { [sessions, refreshTokens, caller] db in
            if let caller { try sessions.end(caller.session, in: db) }
            if let refreshToken, let session = try refreshTokens.session(of: refreshToken, in: db) {
                try sessions.end(session, in: db)
            }
        }
        return APIResponse(message: "Logged out successfully")
    }
}
