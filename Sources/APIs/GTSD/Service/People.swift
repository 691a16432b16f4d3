import Contract
import Database
import Foundation
import GTSDAPI
import HTTPTypes

/// A user at a moment, as their clock shows it.
struct Person: Sendable {
    let id: UserID
    let zone: TimeZone
    /// The zone's name as it was given: Foundation has names of its own for some.
    let zoneName: String
    let version: Int64
    let now: LocalTime
    /// The day of the sign-up. No day before it has tasks.
    let firstDay: Int64

    var today: Int64 { now.day }

    /// The number of days ahead for which tasks are made.
    static let horizon: Int64 = 7

    /// Returns the day that a request means.
    func day(_ written: DayOrInstant) -> Day {
        switch written {
        case .day(let day): day
        case .instant(let milliseconds): Day(daysSince1970: LocalTime(milliseconds: milliseconds, in: zone).day)
        }
    }

    /// Returns whether there are tasks on a day.
    func hasTasks(on day: Int64) -> Bool { firstDay <= day && day <= today + Self.horizon }
}

enum People {
    private static let columns: SQL = "id, timezone, version, created_at"

    /// - Throws: 401 when the account has gone.
    static func one(_ id: UserID, at now: Int64, in db: Session) throws -> Person {
        try require(
            db.one("SELECT \(columns) FROM users WHERE id = \(id)") { try Person(row: $0, at: now) })
    }

    /// Locks the user's row: what is read next holds until the transaction ends.
    ///
    /// - Throws: 401 when the account has gone.
    static func lock(_ id: UserID, at now: Int64, in db: Session) throws -> Person {
        try require(
            db.lock(columns, from: "users", where: "id = \(id)") { try Person(row: $0, at: now) })
    }

    /// Locks the user's row and raises its version, for a change: answers that were cached are no longer good, on any node.
    ///
    /// - Throws: 401 when the account has gone.
    static func lockForChange(_ id: UserID, at now: Int64, in db: Session) throws -> Person {
        try require(
            db.one("UPDATE users SET version = version + 1 WHERE id = \(id) RETURNING \(columns)") {
                try Person(row: $0, at: now)
            })
    }

    private static func require(_ person: Person?) throws -> Person {
        guard let person else { throw Users.gone }
        return person
    }
}

extension Person {
    /// - Parameter row: id, timezone, version, created_at.
    fileprivate init(row: borrowing Row, at milliseconds: Int64) throws {
        // Names are checked when they come in. One that the system no longer knows must not lock its user out.
        let name: String = try row.get(1)
        let zone = TimeZone(identifier: name) ?? .gmt
        self.init(
            id: try row.get(0), zone: zone, zoneName: name, version: try row.get(2),
            now: LocalTime(milliseconds: milliseconds, in: zone),
            firstDay: LocalTime(milliseconds: try row.get(3), in: zone).day)
    }
}
