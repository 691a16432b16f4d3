import Contract
import ContractServer
import Database
import Identity

/// Where a session begins: the device, and the client's address.
public struct SessionOrigin: Sendable {
    /// The longest name of a device that is kept, in Unicode scalars.
    public static let maximumName = 100

    let device: String?
    let address: String?

    /// - Parameter device: The device's name as the client gave it. Without one it is the client's `User-Agent`. What shows
    ///   nothing is removed, and a long name is cut.
    public init(device: String?, _ info: RequestInfo) {
        self.device = Self.name(device) ?? Self.name(info.headers[.userAgent])
        address = SessionNotes.shown(info.address)
    }

    private static func name(_ text: String?) -> String? {
        guard let text, !text.isBlank else { return nil }
        let shown = text.unicodeScalars.filter { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
            default: true
            }
        }
        let name = String(String.UnicodeScalarView(shown)).trimmed
        return String(String.UnicodeScalarView(name.unicodeScalars.prefix(maximumName))).trimmed
    }
}

/// A session as it is shown to its user.
public struct NotedSession: Sendable {
    /// The session's number among those of its user, which says nothing of its tokens: 1 to 2^53.
    public let number: Int64
    /// The device's name; nil when the client gave none.
    public let device: String?
    /// The time at which the session began; nil when it began before that was noted.
    public let startedAt: Int64?
    /// The time of the last use that was noted.
    public let usedAt: Int64
    /// The address at the last use: of IPv4, or an IPv6 network of 64 bits.
    public let address: String?
    /// Whether it is the caller's own.
    public let isCurrent: Bool
}

/// Notes of each session for its user, in columns of their own of the table `sessions`. They are deleted with the session.
public enum SessionNotes {
    /// The statements that add the columns, for a step of an API's schema. A session may have none of it: it began before
    /// the step, or on a node of the version before.
    public static let columns = [
        "ALTER TABLE sessions ADD COLUMN device TEXT",
        "ALTER TABLE sessions ADD COLUMN started_at BIGINT",
        "ALTER TABLE sessions ADD COLUMN used_at BIGINT",
        "ALTER TABLE sessions ADD COLUMN address TEXT",
    ]

    /// The times of the columns.
    public static let times = [StoredTime("sessions", "started_at"), StoredTime("sessions", "used_at")]

    /// The number of sessions that are listed at most.
    static let maximum = 500

    /// Notes where a session has begun.
    ///
    /// - Parameter session: The condition that finds the session's row.
    static func begin(_ session: SQL, _ origin: SessionOrigin, at now: Int64, in db: Session) throws {
        try db.run(
            """
            UPDATE sessions SET device = \(origin.device), started_at = \(now), used_at = \(now),
                address = \(origin.address)
            WHERE \(session)
            """)
    }

    /// Notes that a session is used.
    static func use(_ session: SQL, from address: ClientAddress, at now: Int64, in db: Session) throws {
        try db.run(
            """
            UPDATE sessions SET used_at = \(now), address = \(shown(address))
            WHERE \(session)
            """)
    }

    /// Returns an address as it is kept; nil for one that is not known.
    static func shown(_ address: ClientAddress) -> String? { address.network == "unknown" ? nil : address.network }

    /// Returns a user's sessions that have not expired, the one that was used last first.
    ///
    /// - Parameters:
    ///   - key: The column that identifies a session.
    ///   - lifetime: The time in milliseconds after which an unused session ends.
    static func all<Key: SQLConvertible & Equatable>(
        of user: some SQLConvertible, by key: SQL, current: Key, lifetime: Int64, number: (Key) -> Int64,
        at now: Int64, in db: Session
    ) throws -> [NotedSession] {
        try db.all(
            """
            SELECT \(key), device, started_at, COALESCE(used_at, expires_at - \(lifetime)) AS used, address
            FROM sessions WHERE user_id = \(user) AND expires_at > \(now)
            ORDER BY used DESC, \(key) LIMIT \(maximum)
            """
        ) { row in
            let session: Key = try row.get(0)
            return NotedSession(
                number: number(session), device: try row.get(1), startedAt: try row.get(2), usedAt: try row.get(3),
                address: try row.get(4), isCurrent: session == current)
        }
    }

    /// Returns a user's sessions that have not expired for an operator, the one that was used last first.
    ///
    /// - Parameter lifetime: The time in milliseconds after which an unused session ends.
    public static func shown(
        of user: some SQLConvertible, lifetime: Int64, at now: Int64, in db: Session
    ) throws -> [PersonRecord.Session] {
        try db.all(
            """
            SELECT device, started_at, COALESCE(used_at, expires_at - \(lifetime)) AS used, address
            FROM sessions WHERE user_id = \(user) AND expires_at > \(now) ORDER BY used DESC LIMIT \(maximum)
            """
        ) { row in
            PersonRecord.Session(
                device: try row.get(0), startedAt: (try row.get(1, as: Int64?.self)).map(PersonRecord.Moment.init),
                usedAt: PersonRecord.Moment(try row.get(2)), address: try row.get(3))
        }
    }

    /// Returns a session's number: 53 bits of a digest, which every client of JSON can read as an integer.
    static func number(_ key: [UInt8]) -> Int64 {
        max(1, Digest.sha256(key).prefix(7).reduce(0) { $0 << 8 | Int64($1) } >> 3)
    }
}

// MARK: Sessions with two tokens

extension TokenSessions {
    /// Notes where a session has begun (``SessionNotes``).
    public func note(_ origin: SessionOrigin, of session: String, at now: Int64, in db: Session) throws {
        try SessionNotes.begin("id = \(session)", origin, at: now, in: db)
    }

    /// Notes that a session was renewed.
    public func noteUse(of session: String, from address: ClientAddress, at now: Int64, in db: Session) throws {
        try SessionNotes.use("id = \(session)", from: address, at: now, in: db)
    }

    /// Returns the sessions of a caller's user that have not expired, the one that was renewed last first, at most 500.
    public func list(of caller: Caller<User>, at now: Int64, in db: Session) throws -> [NotedSession] {
        try SessionNotes.all(
            of: caller.user, by: "id", current: caller.session, lifetime: rules.refresh * 1000,
            number: Self.number(of:),
            at: now, in: db)
    }

    /// Ends one session of a user, on this node as soon as the transaction commits.
    ///
    /// - Returns: The session's id; nil when the user has no session of that number.
    public func end(number: Int64, of user: User, in db: Session) throws -> String? {
        let all: [String] = try db.all("SELECT id FROM sessions WHERE user_id = \(user)") { try $0.get(0) }
        guard let session = all.first(where: { Self.number(of: $0) == number }) else { return nil }
        try end(session, in: db)
        return session
    }

    private static func number(of session: String) -> Int64 { SessionNotes.number(Array(session.utf8)) }
}

// MARK: Sessions with cookies

extension CookieSessions {
    /// Notes where a session has begun (``SessionNotes``).
    public func note(_ origin: SessionOrigin, of token: String, at now: Int64, in db: Session) throws {
        try SessionNotes.begin("hash = \(Digest.sha256(token))", origin, at: now, in: db)
    }

    /// Returns the sessions of a caller's user that have not expired, the one that was used last first, at most 500.
    public func list(of caller: Caller, at now: Int64, in db: Session) throws -> [NotedSession] {
        try SessionNotes.all(
            of: caller.user, by: "hash", current: caller.hash, lifetime: Self.lifetime, number: SessionNotes.number,
            at: now, in: db)
    }

    /// Ends one session of a caller's user.
    ///
    /// - Returns: Whether it was the caller's own; nil when the user has no session of that number.
    public func end(number: Int64, of caller: Caller, in db: Session) throws -> Bool? {
        let all: [[UInt8]] = try db.all("SELECT hash FROM sessions WHERE user_id = \(caller.user)") { try $0.get(0) }
        guard let hash = all.first(where: { SessionNotes.number($0) == number }) else { return nil }
        try db.run("DELETE FROM sessions WHERE hash = \(hash)")
        return hash == caller.hash
    }
}
