import Contract
import Database

/// The time for which no one may use an account. What the person wrote stays, and so do the sessions, which go on
/// afterwards.
public struct Suspension: Codable, Equatable, Sendable {
    /// Why the account is suspended, in words for its user; it may be empty.
    public let reason: String
    public let since: PersonRecord.Moment
    /// The end; nil for a suspension that lasts until it is lifted.
    public let until: PersonRecord.Moment?

    /// The statements that add the columns to a table of accounts, for a step of an API's schema.
    public static func columns(of table: String) -> [String] {
        ["suspended_at BIGINT", "suspended_until BIGINT", "suspension_reason TEXT"].map {
            "ALTER TABLE \(table) ADD COLUMN \($0)"
        }
    }

    /// The assignments that lift a suspension; they also remove what it says of a person whose account is deleted.
    public static let lifted: SQL = "suspended_at = NULL, suspended_until = NULL, suspension_reason = NULL"

    static let columns: SQL = "suspended_at, suspended_until, suspension_reason"

    /// Returns a sentence with the end and the reason: `Account is suspended until 2026-12-01T00:00:00Z: spam`.
    public func sentence(beginning words: String) -> String {
        words + (until.map { " until \($0)" } ?? "") + (reason.isEmpty ? "" : ": \(reason)")
    }
}

extension Suspension {
    /// Reads the columns of a row; nil for an account that is not suspended now.
    init?(row: borrowing Row, at first: Int, now: Int64) throws {
        guard let since: Int64 = try row.get(first) else { return nil }
        let until: Int64? = try row.get(first + 1)
        if let until, until <= now { return nil }
        self.init(
            reason: try row.get(first + 2, as: String?.self) ?? "", since: PersonRecord.Moment(since),
            until: until.map(PersonRecord.Moment.init))
    }
}

extension PeopleTable {
    public static func isUsable(at now: Int64) -> SQL {
        "(suspended_at IS NULL OR suspended_until <= \(now))"
    }

    public static func requireUsable(_ id: ID, at now: Int64, in db: Session) throws {
        if let suspension = try suspension(of: id, at: now, in: db) {
            throw Problem(suspended.status, suspension.sentence(beginning: suspended.message))
        }
    }

    /// Returns the suspension of an account that holds now.
    public static func suspension(of id: ID, at now: Int64, in db: Session) throws -> Suspension? {
        try db.one("SELECT \(Suspension.columns) FROM \(table) WHERE id = \(id)") {
            try Suspension(row: $0, at: 0, now: now)
        } ?? nil
    }

    /// Suspends an account whose row is locked.
    public static func suspend(_ id: ID, until: Int64?, reason: String, at now: Int64, in db: Session) throws {
        try db.run(
            """
            UPDATE \(table) SET suspended_at = \(now), suspended_until = \(until), suspension_reason = \(reason)
            WHERE id = \(id)
            """)
    }

    /// Lifts the suspension of an account.
    public static func restore(_ id: ID, in db: Session) throws {
        try db.run("UPDATE \(table) SET \(Suspension.lifted) WHERE id = \(id)")
    }
}
