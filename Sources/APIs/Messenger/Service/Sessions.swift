import Backend
import Contract
import ContractServer
import Database
import HTTPTypes
import Identity
import MessengerAPI

typealias Caller = Backend.Caller<Messenger.User.ID>

extension MessengerService {
    func sessions(_ routes: inout Routes<Messenger, Messenger.User.ID>) {
        routes.on(answering: listSessions)
        routes.on(answering: endOtherSessions)
        routes.on(use: endSession)
    }

    func listSessions(
        _ request: Messenger.ListSessions, from _: Messenger.User.ID, _ info: RequestInfo
    ) async throws -> Answer<[Messenger.Session]> {
        let (now, caller) = (time.milliseconds(), try await caller(info))
        let all = try await database.read { [sessions] in try sessions.list(of: caller, at: now, in: $0) }
        return Answer(.ok, all.map(Messenger.Session.init))
    }

    func endOtherSessions(
        _ request: Messenger.EndOtherSessions, from user: Messenger.User.ID, _ info: RequestInfo
    ) async throws -> Answer<Empty> {
        let session = try await caller(info).session
        try await database.write { try self.endSessions(of: user, except: session, in: $0) }
        return Answer(.noContent, Empty())
    }

    /// Ends all sessions of a user but one, with their sockets on every node.
    func endSessions(of user: Messenger.User.ID, except kept: String, in db: Session) throws {
        for ended in try sessions.endAll(of: user, except: kept, in: db) {
            announce(.sessionEnded(ended), as: nil, in: db)
        }
    }

    func endSession(_ request: Messenger.EndSession, from user: Messenger.User.ID) async throws -> Empty {
        try await database.write { db in
            guard let session = try self.sessions.end(number: request.id.rawValue, of: user, in: db) else {
                throw Problem(.notFound, "Session not found")
            }
            self.announce(.sessionEnded(session), as: nil, in: db)
        }
        return Empty()
    }

    static let sessionRules = TokenSessions<Messenger.User.ID>.Rules(
        access: 3600, refresh: 30 * 24 * 3600, invalid: Sessions.invalidToken,
        wrongKind: Problem(.unauthorized, "Expected access token"))

    /// Returns the user of a session, and throws 403 when the account is suspended.
    @Sendable static func owner(of session: String, at now: Int64, in db: Session) throws -> Messenger.User.ID? {
        guard let user = try TokenSessions<Messenger.User.ID>.anyOwner(of: session, at: now, in: db) else {
            return nil
        }
        try Users.requireUsable(user, at: now, in: db)
        return user
    }

    /// Returns the caller behind `Authorization: Bearer …`. The contract accepts the scheme in this case alone.
    func authenticate(_ info: RequestInfo) async throws -> Messenger.User.ID { try await caller(info).user }

    /// Returns the caller with the session. For a request that has been authenticated it asks a cache.
    func caller(_ info: RequestInfo) async throws -> Caller {
        guard let header = info.headers.value(of: .authorization) else {
            throw Problem(.unauthorized, "Missing Authorization header")
        }
        guard header.hasPrefix("Bearer "), let token = info.headers.bearerToken else {
            throw Problem(.unauthorized, "Authorization header must start with 'Bearer '")
        }
        return try await sessions.caller(token)
    }
}

/// Stores the contract's refresh tokens, which are signed and valid for the whole session. A session's row has the hash
/// of its token.
enum Sessions {
    static let invalidToken = Problem(.unauthorized, "Invalid or expired token")

    static func insert(
        _ id: String, of user: Messenger.User.ID, refreshToken: String, at now: Int64, in db: Session
    ) throws {
        try db.run(
            """
            INSERT INTO sessions (id, user_id, refresh_hash, expires_at)
            VALUES (\(id), \(user), \(Digest.sha256(refreshToken)),
                \(now + MessengerService.sessionRules.refresh * 1000))
            """)
    }

    static func isOpen(_ id: String, refreshToken: String, at now: Int64, in db: Session) throws -> Bool {
        try db.exists(
            """
            SELECT 1 FROM sessions
            WHERE id = \(id) AND refresh_hash = \(Digest.sha256(refreshToken)) AND expires_at > \(now)
            """)
    }

    /// Returns the session of a refresh token.
    static func one(of refreshToken: String, in db: Session) throws -> String? {
        try db.value("SELECT id FROM sessions WHERE refresh_hash = \(Digest.sha256(refreshToken))")
    }
}

extension Messenger.Session {
    fileprivate init(_ session: NotedSession) {
        self.init(
            id: .init(session.number), device: session.device,
            createdAt: session.startedAt.map { .init(milliseconds: $0) },
            lastUsedAt: .init(milliseconds: session.usedAt), address: session.address, current: session.isCurrent)
    }
}
