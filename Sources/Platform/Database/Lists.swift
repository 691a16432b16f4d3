/// A table whose rows form many lists, each ordered by an index on (list, time, id).
public struct ListTable: Sendable {
    let name: SQL
    let list: SQL
    let time: SQL
    let id: SQL

    /// Describes a table.
    ///
    /// - Parameters:
    ///   - list: The column with the list of a row.
    ///   - time: The column by which a list is ordered; rows with the same time are ordered by `id`.
    public init(_ name: SQL, list: SQL, time: SQL, id: SQL = "id") {
        self.name = name
        self.list = list
        self.time = time
        self.id = id
    }
}

extension Session {
    /// Returns SQL for the newest rows of some of a table's lists taken together, as rows of `at` and `id`, in no
    /// order.
    ///
    /// Rows that are not returned cost nothing. On SQLite, the ordered queue of a recursive query merges the lists,
    /// with one look-up for each list and each returned row; on PostgreSQL, the `limit` newest rows of each list are
    /// read.
    ///
    /// - Parameters:
    ///   - lists: A query for the lists, in one column.
    ///   - before: A row of (time, id), as `(a, b)`; only older rows are returned.
    public func newest(_ limit: Int, of table: ListTable, in lists: SQL, before: SQL? = nil) -> SQL {
        let (name, list, time, id) = (table.name, table.list, table.time, table.id)
        let older: SQL = before.map { "AND (t.\(time), t.\(id)) < \($0)" } ?? ""
        switch dialect {
        case .sqlite:
            return """
                (WITH RECURSIVE merged (list, at, id) AS (
                    SELECT l.list, n.\(time), n.\(id)
                    FROM (SELECT 0 AS list WHERE 0 UNION ALL \(lists)) l CROSS JOIN \(name) n
                    WHERE n.\(id) = (
                        SELECT t.\(id) FROM \(name) t WHERE t.\(list) = l.list \(older)
                        ORDER BY t.\(time) DESC, t.\(id) DESC LIMIT 1)
                    UNION ALL
                    SELECT m.list, n.\(time), n.\(id) FROM merged m CROSS JOIN \(name) n
                    WHERE n.\(id) = (
                        SELECT t.\(id) FROM \(name) t
                        WHERE t.\(list) = m.list AND (t.\(time), t.\(id)) < (m.at, m.id)
                        ORDER BY t.\(time) DESC, t.\(id) DESC LIMIT 1)
                    ORDER BY 2 DESC, 3 DESC LIMIT \(limit))
                SELECT at, id FROM merged)
                """
        case .postgreSQL:
            return """
                (SELECT n.at, n.id FROM (\(lists)) l (list) CROSS JOIN LATERAL (
                    SELECT t.\(time) AS at, t.\(id) AS id FROM \(name) t WHERE t.\(list) = l.list \(older)
                    ORDER BY t.\(time) DESC, t.\(id) DESC LIMIT \(limit)) n
                ORDER BY n.at DESC, n.id DESC LIMIT \(limit))
                """
        }
    }

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

    /// Binds a number that the planner does not see, so that PostgreSQL plans the statement once for a connection. It
    /// would plan a statement each time when it expects fewer rows of this value than of others.
    public func unplanned(_ value: some SQLConvertible) -> SQL {
        switch dialect {
        case .sqlite: "\(value)"
        case .postgreSQL: "(SELECT CAST(\(value) AS BIGINT))"
        }
    }
}
