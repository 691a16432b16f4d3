import Database
import Foundation
import Logging

/// A column whose times are compared with the clock.
///
/// A clock may have been ahead when a time was stored. A time that lies further ahead than the time for which such rows are
/// made is therefore not believed: what limits a client has ended, and all else is brought back by the next sweep.
public struct StoredTime: Sendable, Hashable {
    /// What becomes of a time that lies too far ahead.
    public enum Correction: Sendable {
        /// It counts as over (``StoredTimes/isOver(_:at:window:)``), and the sweep of its table deletes the row.
        case isOver
        /// A sweep brings it back to the furthest time that it could have now.
        case isBroughtBack
    }

    public let table: String
    public let column: String
    /// How far such times lie ahead of the clock at most, in milliseconds. It is zero for the time of something that happened.
    public let window: Int64
    public let correction: Correction
    /// The milliseconds of one unit of the column: 1,000 for seconds.
    public let unit: Int64

    public init(
        _ table: String, _ column: String, window: Int64 = 0, correction: Correction = .isBroughtBack, unit: Int64 = 1
    ) {
        self.table = table
        self.column = column
        self.window = window
        self.correction = correction
        self.unit = unit
    }

    private var name: (table: SQL, column: SQL) { (SQL(trusted: table), SQL(trusted: column)) }

    fileprivate func bringBack(at now: Int64, in db: Session) throws {
        let furthest = (now + window) / unit
        try db.run(
            """
            UPDATE \(name.table) SET \(name.column) = \(furthest)
            WHERE \(name.column) > \(furthest + StoredTimes.tolerance / unit)
            """)
    }

    /// Returns the newest time in milliseconds; nil when there is none.
    package func newest(in db: Session) throws -> Int64? {
        let newest: Int64? = try db.value(
            """
            SELECT \(name.column) FROM \(name.table) WHERE \(name.column) IS NOT NULL ORDER BY \(name.column) DESC LIMIT 1
            """)
        return newest.map { $0.multipliedReportingOverflow(by: unit) }.map { $0.overflow ? .max : $0.partialValue }
    }
}

/// The rule for stored times that lie ahead of the clock. ``StoredTime`` says which times there are.
public enum StoredTimes {
    /// The milliseconds by which the clocks of nodes may differ.
    public static let tolerance: Int64 = 60_000

    /// Returns the condition that a time has come, or lies too far ahead to be believed.
    ///
    /// - Parameter window: How far such times lie ahead at most, in milliseconds.
    public static func isOver(_ column: SQL, at now: Int64, window: Int64) -> SQL {
        "(\(column) <= \(now) OR \(column) > \(now + window + tolerance))"
    }

    /// Returns whether a time has come, or lies too far ahead to be believed.
    public static func isOver(_ time: Int64, at now: Int64, window: Int64) -> Bool {
        time <= now || time > now + window + tolerance
    }

    /// Brings times back that lie further ahead than they can. A sweep does so.
    ///
    /// It must not happen at the start: a machine without a battery begins in the past until it has asked for the time, and then
    /// all sessions would be ended by it. The first sweep is an hour later.
    public static func bringBack(_ times: [StoredTime], at now: Int64, in db: Session) throws {
        for time in times where time.correction == .isBroughtBack { try time.bringBack(at: now, in: db) }
    }

    /// The times of a database that lie ahead of the clock.
    struct Ahead: Sendable {
        /// The columns: `sessions.expires_at`.
        let columns: [String]
        /// The newest of the times, in words.
        let newest: String
        /// The meaning of such times, in words for the operator.
        static let meaning = "the clock is behind now, or was ahead before"
    }

    /// Returns the times that lie ahead of the clock; nil when there are none.
    static func ahead(of now: Int64, _ times: [StoredTime], in db: Session) throws -> Ahead? {
        // The audit tells when something was done, and is never changed.
        let found = try (times + [StoredTime("audit", "time")]).compactMap { time -> (name: String, time: Int64)? in
            guard let newest = try time.newest(in: db), newest > now + time.window + tolerance else { return nil }
            return ("\(time.table).\(time.column)", newest)
        }
        guard let newest = found.map(\.time).max() else { return nil }
        let date = Date(timeIntervalSince1970: Double(min(newest, 253_402_300_799_000)) / 1000)
        return Ahead(columns: found.map(\.name), newest: date.formatted(.iso8601))
    }

    /// Logs that times in a database lie ahead of the clock.
    static func warn(of times: [StoredTime], in database: Database, at now: Int64, _ logger: Logger) async {
        do {
            guard let ahead = try await database.read({ try ahead(of: now, times, in: $0) }) else { return }
            logger.warning(
                """
                times in the database lie ahead of the clock: \(Ahead.meaning). Limits that seem to last longer than they can \
                have ended; sessions and invitations count from the next sweep
                """, metadata: ["newest": "\(ahead.newest)", "columns": "\(ahead.columns.joined(separator: " "))"])
        } catch is CancellationError {
            // The server stops.
        } catch {
            logger.warning("the times in the database cannot be read", metadata: ["error": "\(error)"])
        }
    }
}
