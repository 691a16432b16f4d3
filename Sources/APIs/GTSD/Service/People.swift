import Contract
import Database
import GTSDAPI
import HTTPTypes
import TimeZones

/// A user at a moment, as their clock shows it: what the rules of days need. The account is ``Users``, and what the user has
/// said of themselves ``Profiles``.
struct Person: Sendable {
    let id: UserID
    let zone: Zone
    /// The zone's name as the user gave it.
    let zoneName: String
    let version: Int64
    let now: LocalTime
    /// The day of the sign-up. Earlier days have no tasks.
    let firstDay: Day

    var today: Day { now.day }

    /// The number of days ahead for which tasks are created.
    static let horizon = 7

    /// Returns the day of a date or time in a request, in the user's zone.
    func day(_ written: DayOrInstant) -> Day {
        switch written {
        case .day(let day): day
        case .instant(let milliseconds): LocalTime(milliseconds: milliseconds, in: zone).day
        }
    }

    /// Returns the user at another moment.
    func at(_ milliseconds: Int64) -> Person {
        Person(
            id: id, zone: zone, zoneName: zoneName, version: version,
            now: LocalTime(milliseconds: milliseconds, in: zone), firstDay: firstDay)
    }

    /// Returns whether a day has tasks.
    func hasTasks(on day: Day) -> Bool { firstDay <= day && day <= today.advanced(by: Self.horizon) }
}

/// Reads and locks rows of `users` as ``Person``, with their time in their zone.
struct People: Sendable {
    let zones: ZoneDatabase

    private static let columns: SQL = "id, timezone, version, created_at"

    /// Reads a user.
    ///
    /// - Throws: A `Problem` with 401 when the account was deleted.
    func one(_ id: UserID, at now: Int64, in db: Session) throws -> Person {
        try require(
            db.one("SELECT \(Self.columns) FROM users WHERE id = \(id)") { try Person(row: $0, at: now, zones) })
    }

    /// Locks the user's row, so that what is read next stays true until the transaction ends.
    ///
    /// - Throws: A `Problem` with 401 when the account was deleted.
    func lock(_ id: UserID, at now: Int64, in db: Session) throws -> Person {
        try require(
            db.lock(Self.columns, from: "users", where: "id = \(id)") { try Person(row: $0, at: now, zones) })
    }

    /// Locks the user's row for a change and raises its version, which makes cached answers invalid on every node.
    ///
    /// - Throws: A `Problem` with 401 when the account was deleted.
    func lockForChange(_ id: UserID, at now: Int64, in db: Session) throws -> Person {
        try require(
            db.update("users", set: "version = version + 1", where: "id = \(id)", returning: Self.columns) {
                try Person(row: $0, at: now, zones)
            })
    }

    /// The time in milliseconds within which one change of the zone alone leaves out days that do not break a streak: else
    /// a move there and back would stand for a day's tasks.
    private static let restBetweenMoves: Int64 = 7 * 86_400_000

    /// Gives a user, whose row is locked, another zone. Days that the user's calendar leaves out by that do not break a
    /// streak (`skipped_days`).
    func move(_ person: Person, to zone: String, at now: Int64, in db: Session) throws {
        guard zone != person.zoneName else { return }
        try db.run("UPDATE users SET timezone = \(zone) WHERE id = \(person.id)")
        let today = try one(person.id, at: now, in: db).today
        // A day that comes again was not left out.
        try db.run("DELETE FROM skipped_days WHERE user_id = \(person.id) AND day >= \(today)")
        let hasMoved = try db.exists(
            """
            SELECT 1 FROM skipped_days
            WHERE user_id = \(person.id) AND skipped_at > \(now - Self.restBetweenMoves)
            """)
        guard today > person.today, !hasMoved else { return }
        for day in person.today..<today where try !Progress.isCredited(day, of: person.id, in: db) {
            try db.run(
                """
                INSERT INTO skipped_days (user_id, day, skipped_at) VALUES (\(person.id), \(day), \(now))
                ON CONFLICT (user_id, day) DO NOTHING
                """)
        }
    }

    /// Makes sure that this server knows a zone that a request names.
    ///
    /// - Throws: A `Problem` with 400.
    func requireKnown(zone name: String?) throws {
        guard let name, zones.zone(named: name) == nil else { return }
        throw GTSD.Validation.refusal(of: "timezone", "Invalid timezone")
    }

    private func require(_ person: Person?) throws -> Person {
        guard let person else { throw Users.gone }
        return person
    }
}

extension Person {
    /// - Parameter row: A row of `id`, `timezone`, `version` and `created_at`.
    fileprivate init(row: borrowing Row, at milliseconds: Int64, _ zones: ZoneDatabase) throws {
        // Zone names are validated in requests. A name that the system no longer knows must not lock its user out.
        let name: String = try row.get(1)
        let zone = zones.zone(stored: name)
        self.init(
            id: try row.get(0), zone: zone, zoneName: name, version: try row.get(2),
            now: LocalTime(milliseconds: milliseconds, in: zone),
            firstDay: LocalTime(milliseconds: try row.get(3), in: zone).day)
    }
}
