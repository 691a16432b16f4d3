import Contract
import Database
import HTTPTypes

/// Counts attempts within time windows, in the database, so that the counters outlast a restart and are shared by the
/// nodes. ``SignInThrottle`` and ``UploadThrottle`` decide what is counted.
enum AttemptCounters {
    static let minute: Int64 = 60_000
    static let hour: Int64 = 3_600_000

    /// The statements that create the table.
    static let tables = [
        "CREATE TABLE attempts (key {KEY} PRIMARY KEY, count INTEGER NOT NULL, until BIGINT NOT NULL)",
        "CREATE INDEX attempts_age ON attempts (until)",
    ]

    /// The times of the table. An hour is the longest window.
    static let times = [StoredTime("attempts", "until", window: hour, correction: .isOver)]

    /// Counts an attempt if there is room for it, and returns whether there was. One statement checks and counts, so
    /// that two requests cannot both take the last place. A window begins with its first attempt.
    static func isCounted(_ key: String, _ limit: Int, _ window: Int64, at now: Int64, in db: Session) throws -> Bool {
        let isOver = StoredTimes.isOver("attempts.until", at: now, window: window)
        return try db.exists(
            """
            INSERT INTO attempts (key, count, until) VALUES (\(key), 1, \(now + window))
            ON CONFLICT (key) DO UPDATE SET
                count = CASE WHEN \(isOver) THEN 1 ELSE attempts.count + 1 END,
                until = CASE WHEN \(isOver) THEN excluded.until ELSE attempts.until END
            WHERE \(isOver) OR attempts.count < \(limit)
            RETURNING 1
            """)
    }

    /// Counts an attempt.
    ///
    /// - Throws: A `Problem` with 429 and `Retry-After` when there is no room.
    static func count(
        _ key: String, _ limit: Int, _ window: Int64, _ errorMessages: ErrorMessages, at now: Int64, in db: Session
    ) throws {
        if try isCounted(key, limit, window, at: now, in: db) { return }
        let until = try db.value("SELECT until FROM attempts WHERE key = \(key)", as: Int64.self) ?? now
        throw refusal(errorMessages, until: until, window, at: now)
    }

    /// Throws what ``count(_:_:_:_:at:in:)`` would, without counting.
    static func requireRoom(
        _ key: String, _ limit: Int, _ window: Int64, _ errorMessages: ErrorMessages, at now: Int64, in db: Session
    ) throws {
        let until: Int64? = try db.value(
            """
            SELECT until FROM attempts
            WHERE key = \(key) AND count >= \(limit) AND NOT \(StoredTimes.isOver("until", at: now, window: window))
            """)
        if let until { throw refusal(errorMessages, until: until, window, at: now) }
    }

    /// Refunds a counted attempt.
    static func refund(_ key: String, in db: Session) throws {
        try db.run("UPDATE attempts SET count = count - 1 WHERE key = \(key) AND count > 0")
        try db.run("DELETE FROM attempts WHERE key = \(key) AND count = 0")
    }

    /// Returns the counters of a key, and those of keys that begin with it and a space, whose windows have not ended.
    static func counts(of key: String, at now: Int64, in db: Session) throws -> [(key: String, count: Int)] {
        try db.all(
            """
            SELECT key, count FROM attempts
            WHERE key >= \(key) AND key < \(key + "!") AND NOT \(StoredTimes.isOver("until", at: now, window: hour))
            """
        ) { (try $0.get(0), try $0.get(1)) }
    }

    /// Deletes the counters of a key, and those of keys that begin with it and a space.
    static func forget(_ key: String, in db: Session) throws {
        // "!" is the next ASCII character after the space.
        try db.run("DELETE FROM attempts WHERE key >= \(key) AND key < \(key + "!")")
    }

    /// Deletes counters whose window has ended.
    static func sweep(at now: Int64, in db: Session) throws {
        try db.run("DELETE FROM attempts WHERE \(StoredTimes.isOver("until", at: now, window: hour))")
    }

    private static func refusal(_ errorMessages: ErrorMessages, until: Int64, _ window: Int64, at now: Int64) -> Problem
    {
        // A request that waited for the database may be older than the beginning of the window.
        Problem(.tooManyRequests, errorMessages.tooManyRequests).retry(
            afterSeconds: (min(until - now, window) + 999) / 1000)
    }
}

/// A limit on the uploads of one user within an hour. Its counters are in the tables of ``SignInThrottle``.
public struct UploadThrottle: Sendable {
    let limit: Int
    let errorMessages: ErrorMessages

    /// The statements that create the table, for the schema of an API that has no other counters of attempts.
    public static let tables = AttemptCounters.tables
    /// The times of the table.
    public static let times = AttemptCounters.times

    /// Deletes counters whose hour has ended.
    public static func sweep(at now: Int64, in db: Session) throws { try AttemptCounters.sweep(at: now, in: db) }

    /// - Parameter limit: The number of uploads within an hour.
    public init(limit: Int, errorMessages: ErrorMessages) {
        self.limit = limit
        self.errorMessages = errorMessages
    }

    /// Counts an upload.
    ///
    /// - Parameter user: The user's id.
    /// - Throws: A `Problem` with 429 and `Retry-After`.
    public func count(_ user: String, at now: Int64, in db: Session) throws {
        try AttemptCounters.count("uploads \(user)", limit, AttemptCounters.hour, errorMessages, at: now, in: db)
    }

    /// Throws 429 with `Retry-After` when ``count(_:at:in:)`` would, without counting. It should be called before work
    /// that a refusal would waste.
    public func requireRoom(_ user: String, at now: Int64, in db: Session) throws {
        try AttemptCounters.requireRoom(
            "uploads \(user)", limit, AttemptCounters.hour, errorMessages, at: now, in: db)
    }

    /// Deletes the counter of a user whose account is deleted.
    public static func forget(_ user: String, in db: Session) throws {
        try db.run("DELETE FROM attempts WHERE key = \("uploads \(user)")")
    }
}
