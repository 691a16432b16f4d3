/// What operators and admins have done: each entry says when, who, what, and to whom or what.
///
/// Entries are kept for 400 days, and about the newest 10,000 of each action, so that the table cannot be
/// filled and no rare entry is lost among many others.
public struct AuditEntry: Sendable, Equatable {
    /// The entry's number. Later entries of the same database have higher ones.
    public let id: Int64
    /// The time in Unix milliseconds.
    public let time: Int64
    /// Who did it, such as `operator anna` or `admin 7`.
    public let actor: String
    /// The name of an operator's command, such as `dunbar promote`, or of an admin's action.
    public let action: String
    /// To whom or what it was done. It may be empty, and may contain texts of users.
    public let subject: String
}

extension Session {
    /// The time in milliseconds for which entries are kept.
    static let auditLifetime: Int64 = 400 * 86_400_000
    /// The most entries of an action that are kept.
    static let auditLimit = 10_000
    /// The number of entries that are added before those beyond the limit are removed.
    static let auditPruning = 100
    /// The longest subject in characters.
    private static let longestSubject = 500

    /// The table and its indexes, which are created along with `installation`.
    static let auditTable = [
        """
        CREATE TABLE IF NOT EXISTS audit (
            id {ID}, time BIGINT NOT NULL, actor TEXT NOT NULL, action {KEY} NOT NULL, subject TEXT NOT NULL)
        """,
        "CREATE INDEX IF NOT EXISTS audit_time ON audit (time)",
        "CREATE INDEX IF NOT EXISTS audit_action ON audit (action, id)",
    ]

    /// Adds an entry. It becomes durable with the change that it reports, because it belongs to the same transaction.
    ///
    /// - Parameters:
    ///   - subject: To whom or what it was done; the first 500 characters are kept.
    ///   - now: The time in Unix milliseconds.
    public func audit(_ actor: String, _ action: String, _ subject: String, at now: Int64) throws {
        let id: Int? = try insert(
            """
            INSERT INTO audit (time, actor, action, subject)
            VALUES (\(now), \(actor), \(action), \(String(subject.prefix(Self.longestSubject))))
            """)
        try run("DELETE FROM audit WHERE time < \(now - Self.auditLifetime)")
        guard let id, id % Self.auditPruning == 0 else { return }
        try run(
            """
            DELETE FROM audit WHERE action = \(action) AND id <= (
                SELECT id FROM audit WHERE action = \(action) ORDER BY id DESC LIMIT 1 OFFSET \(Self.auditLimit))
            """)
    }

    /// Returns entries in the order of their numbers.
    ///
    /// - Parameters:
    ///   - id: The number after which the list begins.
    ///   - limit: The most entries that are returned.
    public func auditEntries(after id: Int64, limit: Int) throws -> [AuditEntry] {
        try all(
            "SELECT id, time, actor, action, subject FROM audit WHERE id > \(id) ORDER BY id LIMIT \(limit)",
            Self.auditEntry)
    }

    /// Returns the newest entries, the newest first.
    public func newestAuditEntries(limit: Int) throws -> [AuditEntry] {
        try all(
            "SELECT id, time, actor, action, subject FROM audit ORDER BY id DESC LIMIT \(limit)", Self.auditEntry)
    }

    /// Returns the newest entries whose subject is one of some texts, or begins with one of some others, the newest first.
    public func auditEntries(
        about subjects: [String], beginning beginnings: [String], limit: Int
    ) throws -> [AuditEntry] {
        let conditions =
            subjects.map { "subject = \($0)" as SQL }
            + beginnings.map { beginning in
                let escaped = beginning.reduce(into: "") { $0 += "%_\\".contains($1) ? "\\\($1)" : "\($1)" }
                return #"subject LIKE \#(escaped + "%") ESCAPE '\'"# as SQL
            }
        guard var condition = conditions.first else { return [] }
        for another in conditions.dropFirst() { condition = "\(condition) OR \(another)" }
        return try all(
            """
            SELECT id, time, actor, action, subject FROM audit WHERE \(condition) ORDER BY id DESC LIMIT \(limit)
            """, Self.auditEntry)
    }

    private static func auditEntry(_ row: borrowing Row) throws -> AuditEntry {
        AuditEntry(
            id: try row.get(0), time: try row.get(1), actor: try row.get(2), action: try row.get(3),
            subject: try row.get(4))
    }
}
