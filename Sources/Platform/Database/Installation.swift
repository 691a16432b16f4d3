/// Facts about an installation, besides its API's tables: the object store that belongs to the database, and the keys.
///
/// Each fact has a name and a value, both short texts.
extension Session {
    /// The table, which is created along with `schema_migrations`.
    static let installationTable =
        "CREATE TABLE IF NOT EXISTS installation (name {KEY} PRIMARY KEY, value TEXT NOT NULL)"

    /// Returns the value of a fact, or nil when it was never set.
    public func fact(_ name: String) throws -> String? {
        try value("SELECT value FROM installation WHERE name = \(name)")
    }

    /// Sets the value of a fact, replacing an earlier one.
    public func setFact(_ name: String, to value: String) throws {
        try run(
            """
            INSERT INTO installation (name, value) VALUES (\(name), \(value))
            ON CONFLICT (name) DO UPDATE SET value = excluded.value
            """)
    }

    /// Counts an event of a topic that has no row of its own. Other transactions that do so wait until this one ends, so
    /// the numbers have no holes and grow in the order of the commits.
    ///
    /// - Returns: The number of the event, from 1 on.
    public func countEvent(of topic: String) throws -> Int64 {
        let number: String? = try value(
            """
            INSERT INTO installation (name, value) VALUES (\("events of \(topic)"), '1')
            ON CONFLICT (name) DO UPDATE SET value = CAST(CAST(installation.value AS BIGINT) + 1 AS TEXT) RETURNING value
            """)
        guard let number = number.flatMap(Int64.init) else { throw DatabaseFailure.failed("events are not counted") }
        return number
    }

    /// Sets the value of a fact that has none, and returns its value from then on. When several nodes do so at the same
    /// time, the first decides.
    public func settleFact(_ name: String, _ value: String) throws -> String {
        try run("INSERT INTO installation (name, value) VALUES (\(name), \(value)) ON CONFLICT (name) DO NOTHING")
        return try fact(name) ?? value
    }
}
