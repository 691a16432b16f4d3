import Contract
import CoreMetrics
import Database
import HTTPTypes
import Identity

/// Limits on the requests of a user or an address within a minute, on all nodes together. A window begins with its
/// first request.
///
/// With a single node the counters are in memory and start again with the process, so that requests that only read
/// write nothing.
public final class RateLimits: Sendable {
    /// The length of a window, in milliseconds.
    static let window: Int64 = 60_000

    /// The state of a counter within its window.
    public struct Standing: Sendable, Hashable {
        public let limit: Int
        /// The number of requests, the one that was just counted included.
        public let used: Int
        /// The end of the window, in milliseconds since 1970.
        public let endsAt: Int64

        public var isExceeded: Bool { used > limit }

        /// The headers `X-RateLimit-Limit`, `-Remaining`, and `-Reset` in Unix seconds.
        public var headers: HTTPFields {
            [
                .rateLimit: String(limit), .rateLimitRemaining: String(max(0, limit - used)),
                .rateLimitReset: String((endsAt + 999) / 1000),
            ]
        }

        /// Returns a `Problem` with 429 and `Retry-After`.
        public func refusal(_ message: String, at now: Int64) -> Problem {
            Problem(.tooManyRequests, message).retry(afterSeconds: (endsAt - now + 999) / 1000)
        }
    }

    /// The statements that create the tables, for an API's schema.
    public static let tables = [
        "CREATE TABLE rate_windows (key {KEY} PRIMARY KEY, used BIGINT NOT NULL, ends_at BIGINT NOT NULL)",
        "CREATE INDEX rate_windows_age ON rate_windows (ends_at)",
    ]

    /// The times of the tables.
    public static let times = [StoredTime("rate_windows", "ends_at", window: window, correction: .isOver)]

    private struct Window {
        var used = 0
        var endsAt: Int64

        func isOver(at now: Int64) -> Bool { StoredTimes.isOver(endsAt, at: now, window: RateLimits.window) }

        /// Returns the state of the counter. A window that a node with another clock has begun ends within its length.
        func standing(_ limit: Int, at now: Int64) -> Standing {
            Standing(limit: limit, used: used, endsAt: min(endsAt, now + RateLimits.window))
        }
    }

    private let database: Database
    private let time: TimeSource
    /// The counters by key. The least recently used are dropped when there are too many.
    private let windows = BoundedCache<String, Window>(capacity: 200_000)
    private let refusals = Counter(label: "concord_rate_limit_refusals_total")

    public init(_ database: Database, time: TimeSource) {
        self.database = database
        self.time = time
    }

    /// Counts a request, and returns headers with the state of the counter.
    ///
    /// - Returns: The `X-RateLimit-*` headers.
    /// - Throws: A `Problem` with 429, the same headers and `Retry-After`.
    public func admit(_ key: String, limit: Int, _ refusal: String) async throws -> HTTPFields {
        let standing = try await count(key, limit: limit)
        guard standing.isExceeded else { return standing.headers }
        var problem = standing.refusal(refusal, at: time.milliseconds())
        problem.headers.append(contentsOf: standing.headers)
        throw problem
    }

    /// Counts a request.
    ///
    /// - Parameter key: The user or the address, and the kind of request.
    public func count(_ key: String, limit: Int) async throws -> Standing {
        let standing = try await standing(counting: key, limit: limit)
        if standing.isExceeded { refusals.increment() }
        return standing
    }

    private func standing(counting key: String, limit: Int) async throws -> Standing {
        let now = time.milliseconds()
        guard database.isShared else { return countHere(key, limit: limit, at: now) }
        // A refused key writes nothing more until the window ends.
        if let spent = windows.value(for: key), !spent.isOver(at: now), spent.used > limit {
            return spent.standing(limit, at: now)
        }
        let isOver = StoredTimes.isOver("rate_windows.ends_at", at: now, window: Self.window)
        let window = try await database.write { db in
            let window = try db.one(
                """
                INSERT INTO rate_windows (key, used, ends_at) VALUES (\(key), 1, \(now + Self.window))
                ON CONFLICT (key) DO UPDATE SET
                    used = CASE WHEN \(isOver) THEN 1 ELSE rate_windows.used + 1 END,
                    ends_at = CASE WHEN \(isOver) THEN excluded.ends_at ELSE rate_windows.ends_at END
                RETURNING used, ends_at
                """
            ) { Window(used: try $0.get(0), endsAt: try $0.get(1)) }
            return window ?? Window(used: 1, endsAt: now + Self.window)
        }
        let standing = window.standing(limit, at: now)
        if standing.isExceeded { windows.insert(window, for: key) }
        return standing
    }

    private func countHere(_ key: String, limit: Int, at now: Int64) -> Standing {
        windows.update(key) { counted in
            var window = counted ?? Window(endsAt: now + Self.window)
            if window.isOver(at: now) { window = Window(endsAt: now + Self.window) }
            window.used += 1
            counted = window
            return window.standing(limit, at: now)
        }
    }

    /// Deletes the counters of an account that is deleted.
    public static func forget(_ keys: [String], in db: Session) throws {
        try db.run("DELETE FROM rate_windows WHERE key IN (\(list: keys))")
    }

    /// Deletes windows that have ended.
    public static func sweep(at now: Int64, in db: Session) throws {
        try db.run("DELETE FROM rate_windows WHERE \(StoredTimes.isOver("ends_at", at: now, window: window))")
    }
}
