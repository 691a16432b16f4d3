import Backend
import Contract
import ContractServer
import Database
import HTTPTypes
import Identity
import MessengerAPI

typealias Caller = Backend.Caller<Messenger.User.ID>

extension MessengerService {
    static let sessionRules = TokenSessions<Messenger.User.ID>.Rules(
        access: 3600, refresh: 30 * 24 * 3600, invalid: Sessions.invalidToken,
        wrongKind: Problem(.unauthorized, "Expected access token"))

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
