import Contract
import Database
import Foundation
import GTSDAPI
import HTTPTypes

/// Somebody at a moment: what their clock shows.
struct Person: Sendable {
    let id: Int64
    let zone: TimeZone
    /// As it was given: Foundation has names of its own for some.
    let zoneName: String
    let version: Int64
    let now: LocalTime
    /// The day on which they signed up. None before it has tasks.
    let firstDay: Int64

    var today: Int64 { now.day }

    /// Tasks are made so many days ahead.
    static let horizon: Int64 = 7

    /// Returns the day that a request means.
    func day(_ written: DayOrInstant) -> Day {
        switch written {
        case .day(let day): day
        case .instant(let milliseconds): Day(daysSince1970: LocalTime(milliseconds: milliseconds, in: zone).day)
        }
    }

    /// Whether there are tasks on a day.
    func hasTasks(on day: Int64) -> Bool { firstDay <= day && day <= today + Self.horizon }
}

enum People {
    static let invalidToken = Problem(.unauthorized, "Invalid or expired token")

    /// - Throws: 401 when the account has gone.
    static func one(_ id: Int64, at now: Int64, in db: Session) throws -> Person {
        try require(
            db.one("SELECT id, timezone, version, created_at FROM users WHERE id = \(id)") {
                try Person(row: $0, at: now)
            })
    }

    /// The same, after every other transaction that holds the same person: what is read next holds until the end.
    static func hold(_ id: Int64, at now: Int64, in db: Session) throws -> Person {
        try require(
            db.one(
                "UPDATE users SET version = version WHERE id = \(id) RETURNING id, timezone, version, created_at"
            ) { try Person(row: $0, at: now) })
    }

    /// The same, for a change: answers that were cached are cached no longer, on any node.
    static func change(_ id: Int64, at now: Int64, in db: Session) throws -> Person {
        try require(
            db.one(
                "UPDATE users SET version = version + 1 WHERE id = \(id) RETURNING id, timezone, version, created_at"
            ) { try Person(row: $0, at: now) })
    }

    private static func require(_ person: Person?) throws -> Person {
        guard let person else { throw invalidToken }
        return person
    }
}

extension Person {
    /// - Parameter row: id, timezone, version, created_at.
    fileprivate init(row: borrowing Row, at milliseconds: Int64) throws {
        // Names are judged when they come in. One that the system no longer knows must not lock anybody out.
        let name: String = try row.get(1)
        let zone = TimeZone(identifier: name) ?? .gmt
        self.init(
            id: try row.get(0), zone: zone, zoneName: name, version: try row.get(2),
            now: LocalTime(milliseconds: milliseconds, in: zone),
            firstDay: LocalTime(milliseconds: try row.get(3), in: zone).day)
    }
}
