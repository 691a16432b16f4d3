// What a query says beside its result, so that each engine finds it by the index that is meant.

extension Session {
    /// Returns SQL for the rows of a table that a query names by their ids, as an item of `FROM`: `\(…) c`.
    ///
    /// The rows are looked up one after the other in the index of the ids. PostgreSQL would rather read all of a table
    /// that is not large, and plan the statement again for each value of the query.
    ///
    /// - Parameter ids: A query for few ids, in one column that is named `key`.
    public func rows(of table: SQL, in ids: SQL) -> SQL {
        switch dialect {
        case .sqlite: "(SELECT t.* FROM (\(ids)) k JOIN \(table) t ON t.id = k.key)"
        case .postgreSQL: "(SELECT * FROM \(table) WHERE id = ANY (ARRAY(\(ids))))"
        }
    }

    /// Whether the database runs in this process, as SQLite does. There a second statement costs no round trip, and a
    /// statement that sorts copies whole rows.
    package var isInProcess: Bool { dialect == .sqlite }

    /// Binds a number that the planner does not see, so that PostgreSQL plans the statement once for a connection. It
    /// would plan a statement each time when it expects fewer rows of this value than of others.
    public func unplanned(_ value: some SQLConvertible) -> SQL {
        switch dialect {
        case .sqlite: "\(value)"
        case .postgreSQL: "(SELECT CAST(\(value) AS BIGINT))"
        }
    }
}
