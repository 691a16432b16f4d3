import Backend
import Contract
import ContractServer
import Database
import HTTPTypes
import Identity
import MessengerAPI
import NIOConcurrencyHelpers

/// Who is behind an access token, and until when.
struct Caller: Sendable {
    let user: Messenger.User.ID
    let session: String
    /// Seconds since 1970.
    let expiresAt: Int64
}

extension MessengerService {
    static let accessLifetime: Int64 = 3600
    static let refreshLifetime: Int64 = 30 * 24 * 3600

    /// The caller behind `Authorization: Bearer …`.
    func authenticate(_ info: RequestInfo) async throws -> Messenger.User.ID {
        guard let header = info.headers[.authorization] else {
            throw Problem(.unauthorized, "Missing Authorization header")
        }
        guard header.hasPrefix("Bearer ") else {
            throw Problem(.unauthorized, "Authorization header must start with 'Bearer '")
        }
        return try await caller(String(header.dropFirst("Bearer ".count))).user
    }

    /// The caller behind an access token. The session is asked for, so that a revoked one ends within a second.
    func caller(_ token: String) async throws -> Caller {
        let invalid = Sessions.invalidToken
        guard let claims = try? await tokens.verify(token), let id = Int64(claims.subject) else { throw invalid }
        guard claims.kind == "access" else { throw Problem(.unauthorized, "Expected access token") }
        let user = Messenger.User.ID(id)
        guard try await sessions.isAlive(claims.session, of: user) else { throw invalid }
        return Caller(user: user, session: claims.session, expiresAt: claims.expiresAt)
    }
}

/// Which sessions are alive, remembered for a second each: a request rarely has to ask the database.
final class SessionRegistry: Sendable {
    static let freshness: Int64 = 1000
    static let capacity = 20_000

    private let database: Database
    private let time: TimeSource
    /// Whose each is, and when it was last seen alive.
    private let seen = NIOLockedValueBox<[String: (user: Messenger.User.ID, at: Int64)]>([:])

    init(database: Database, time: TimeSource) {
        self.database = database
        self.time = time
    }

    /// Whether there is such a session of this user.
    func isAlive(_ session: String, of user: Messenger.User.ID) async throws -> Bool {
        let now = time.milliseconds()
        // A clock that was set back must not keep a session alive.
        if let last = seen.withLockedValue({ $0[session] }), last.user == user, 0..<Self.freshness ~= now - last.at {
            return true
        }
        return try await isAliveNow(session, of: user)
    }

    /// Asks the database, whatever is remembered: for sockets, which do not ask again.
    func isAliveNow(_ session: String, of user: Messenger.User.ID) async throws -> Bool {
        let now = time.milliseconds()
        let alive = try await database.read {
            try $0.exists("SELECT 1 FROM sessions WHERE id = \(session) AND user_id = \(user)")
        }
        seen.withLockedValue { seen in
            if seen.count >= Self.capacity { seen.removeAll(keepingCapacity: true) }
            seen[session] = alive ? (user, now) : nil
        }
        return alive
    }

    func forget(_ session: String) {
        seen.withLockedValue { $0[session] = nil }
    }
}

enum Sessions {
    static let invalidToken = Problem(.unauthorized, "Invalid or expired token")

    static func insert(
        _ id: String, of user: Messenger.User.ID, refreshHash: [UInt8], expiresAt: Int64, in db: Session
    ) throws {
        try db.run(
            """
            INSERT INTO sessions (id, user_id, refresh_hash, expires_at)
            VALUES (\(id), \(user), \(refreshHash), \(expiresAt))
            """)
    }

    static func isAlive(_ id: String, refreshHash: [UInt8], at now: Int64, in db: Session) throws -> Bool {
        try db.exists(
            """
            SELECT 1 FROM sessions WHERE id = \(id) AND refresh_hash = \(refreshHash) AND expires_at > \(now)
            """)
    }

    /// Ends the session of a refresh token, and tells which it was.
    static func end(refreshHash: [UInt8], in db: Session) throws -> String? {
        try db.value("DELETE FROM sessions WHERE refresh_hash = \(refreshHash) RETURNING id")
    }

    /// Ends all of a user's, and tells which they were.
    static func end(of user: Messenger.User.ID, in db: Session) throws -> [String] {
        try db.all("DELETE FROM sessions WHERE user_id = \(user) RETURNING id") { try $0.get(0) }
    }

    static func sweep(at now: Int64, in db: Session) throws {
        try db.run("DELETE FROM sessions WHERE expires_at <= \(now)")
    }
}
