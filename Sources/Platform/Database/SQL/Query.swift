/// A statement and the result that is made from its rows, which a ``Session`` runs.
public struct Query<Value: Sendable>: Sendable {
    let sql: SQL
    let initial: Value
    /// Adds a row to the result, and returns whether it needs another.
    let take: @Sendable (inout Value, borrowing Row) throws -> Bool

    /// Returns every row, mapped.
    public static func all<T>(
        _ sql: SQL, _ map: @escaping @Sendable (borrowing Row) throws -> T
    ) -> Query where Value == [T] {
        Query(sql: sql, initial: []) { rows, row in
            rows.append(try map(row))
            return true
        }
    }

    /// Returns the first row, mapped, or nil.
    public static func one<T>(
        _ sql: SQL, _ map: @escaping @Sendable (borrowing Row) throws -> T
    ) -> Query where Value == T? {
        Query(sql: sql, initial: nil) { first, row in
            first = try map(row)
            return false
        }
    }

    /// Returns whether there is a row.
    public static func exists(_ sql: SQL) -> Query where Value == Bool {
        Query(sql: sql, initial: false) { exists, _ in
            exists = true
            return false
        }
    }
}
