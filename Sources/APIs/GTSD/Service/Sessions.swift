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
    func sessions(_ routes: inout Routes<GTSD, Caller>) {
        routes.on(use: listSessions)
        routes.on(use: endOtherSessions)
        routes.on(use: endSession)
    }

    func listSessions(
        _ request: GTSD.ListSessions, from caller: Caller
    ) async throws -> APIResponse<GTSD.SessionList> {
        let now = time.milliseconds()
        let all = try await database.read { [sessions] in try sessions.list(of: caller, at: now, in: $0) }
        return APIResponse(.init(sessions: all.map(GTSD.Session.init)))
    }

    func endOtherSessions(
        _ request: GTSD.EndOtherSessions, from caller: Caller
    ) async throws -> APIResponse<NoData> {
        _ = try await database.write { [sessions] db in
            try sessions.endAll(of: caller.user, except: caller.session, in: db)
        }
        return APIResponse(message: "Other sessions ended successfully")
    }

    func endSession(_ request: GTSD.EndSession, from caller: Caller) async throws -> APIResponse<NoData> {
        let ended = try await database.write { [sessions] db -> String? in
            guard let number = Int64(request.sessionId.rawValue), "\(number)" == request.sessionId.rawValue else {
                return nil
            }
            return try sessions.end(number: number, of: caller.user, in: db)
        }
        guard ended != nil else { throw Problem(.notFound, "Session not found") }
        return APIResponse(message: "Session ended successfully")
    }

    static let sessionRules = TokenSessions<UserID>.Rules(
        access: 15 * 60, refresh: 7 * 24 * 3600, invalid: Users.gone)

    /// Returns the user of a session, and throws 403 when the account is deactivated.
    @Sendable static func owner(of session: String, at now: Int64, in db: Session) throws -> UserID? {
        guard let user = try TokenSessions<UserID>.anyOwner(of: session, at: now, in: db) else { return nil }
        try Users.requireUsable(user, at: now, in: db)
        return user
    }

    /// Returns the caller behind `Authorization: Bearer …`.
    func authenticate(_ info: RequestInfo) async throws -> Caller {
        guard let token = info.headers.bearerToken else { throw Problem(.unauthorized, "Authentication required") }
        return try await sessions.caller(token)
    }

    func refresh(_ request: GTSD.Refresh, _ info: RequestInfo) async throws -> APIResponse<GTSD.RefreshedTokens> {
        let (now, new) = (time.milliseconds(), RandomToken.make())
        let exchange = try await database.write { [refreshTokens, sessions] db in
            let exchange = try refreshTokens.exchange(
                request.refreshToken, for: new, at: now, in: db,
                admit: { try Users.requireUsable($0, at: now, in: $1) })
            if case .renewed(_, let session) = exchange {
                try sessions.noteUse(of: session, from: info.address, at: now, in: db)
            }
            return exchange
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

extension GTSD.Session {
    fileprivate init(_ session: NotedSession) {
        self.init(
            id: .init(number: session.number), device: session.device,
            createdAt: session.startedAt.map { .init(milliseconds: $0) },
            lastUsedAt: .init(milliseconds: session.usedAt), address: session.address, current: session.isCurrent)
    }
}
