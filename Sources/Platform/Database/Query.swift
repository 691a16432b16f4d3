/// A statement, and what is made of its rows: to be run by a ``Session``.
public struct Query<Value: Sendable>: Sendable {
    let sql: SQL
    let initial: Value
    /// Takes a row in, and tells whether it wants another.
    let take: @Sendable (inout Value, borrowing Row) throws -> Bool

    /// Every row, mapped.
    public static func all<T>(
        _ sql: SQL, _ map: @escaping @Sendable (borrowing Row) throws -> T
    ) -> Query where Value == [T] {
        Query(sql: sql, initial: []) { rows, row in
            rows.append(try map(row))
            return true
        }
    }

    /// Whether there is a row at all.
    public static func exists(_ sql: SQL) -> Query where Value == Bool {
        Query(sql: sql, initial: false) { exists, _ in
            exists = true
            return false
        }
    }
}
