import Foundation

/// A table whose rows form many lists, each ordered by an index on (list, time, id).
public struct ListTable<List: SQLConvertible, ID: SQLConvertible & Comparable>: Sendable {
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

    /// Returns the query for the newest rows of one list, from a place on.
    package func newest(_ limit: Int, of list: List, before place: (time: Int64, id: ID)?) -> SQL {
        let rest: SQL = place.map { "AND (t.\(time), t.\(id)) < (\($0.time), \($0.id))" } ?? ""
        return """
            SELECT t.\(time), t.\(id) FROM \(name) t WHERE t.\(self.list) = \(list) \(rest)
            ORDER BY t.\(time) DESC, t.\(id) DESC LIMIT \(limit)
            """
    }
}

extension Session {
    /// Finds the newest rows of some of a table's lists taken together, and returns them as an item of `FROM` with the column
    /// `id`: `SELECT … FROM \(newest) n JOIN … t ON t.id = n.id`.
    ///
    /// The rows of such a query are in no order: the caller sorts what it makes of them, because SQLite would copy each row
    /// to sort it.
    ///
    /// Rows that are not returned cost little. On SQLite, some rows of each list are read, and more of those lists whose last
    /// one is among the newest of all; on PostgreSQL, where each statement would be a round trip, the query that uses the
    /// result reads the `limit` newest rows of each list.
    ///
    /// - Parameters:
    ///   - lists: A query for the lists, in one column.
    ///   - before: A query for a row of (time, id), in parentheses; only older rows are returned.
    public func newest<List, ID>(
        _ limit: Int, of table: ListTable<List, ID>, in lists: SQL, before: SQL? = nil
    ) throws -> SQL {
        let (name, list, time, id) = (table.name, table.list, table.time, table.id)
        switch dialect {
        case .sqlite:
            let ids = try Self.json(merge(limit, of: table, in: lists, before: before))
            return "(SELECT value AS id FROM json_each(\(ids)))"
        case .postgreSQL:
            let older: SQL = before.map { "AND (t.\(time), t.\(id)) < \($0)" } ?? ""
            return """
                (SELECT n.at, n.id FROM (\(lists)) l (list) CROSS JOIN LATERAL (
                    SELECT t.\(time) AS at, t.\(id) AS id FROM \(name) t WHERE t.\(list) = l.list \(older)
                    ORDER BY t.\(time) DESC, t.\(id) DESC LIMIT \(limit)) n
                ORDER BY n.at DESC, n.id DESC LIMIT \(limit))
                """
        }
    }

    private func merge<List, ID>(
        _ limit: Int, of table: ListTable<List, ID>, in lists: SQL, before: SQL?
    ) throws -> [ID] {
        typealias Place = (time: Int64, id: ID)
        // Tuples are compared by parts: a comparison of whole ones asks for their types at run time.
        func isNewer(_ one: Place, _ other: Place) -> Bool {
            one.time != other.time ? one.time > other.time : one.id > other.id
        }
        let place = { (row: borrowing Row) -> Place in (try row.get(0), try row.get(1)) }
        var start: Place?
        if let before {
            start = try one("SELECT * FROM \(before)", place)
            // Nothing is older than a row that there is not.
            if start == nil { return [] }
        }
        var reading: [(list: List, last: Place?)] = try all(lists) { (try $0.get(0), start) }
        var newest: [Place] = []
        // Twice as many as a list has among the newest when all are alike.
        var count = min(limit, 1 + 2 * limit / max(1, reading.count))
        while !reading.isEmpty {
            var ends: [(list: List, last: Place?)] = []
            for (list, last) in reading {
                let places = try all(table.newest(count, of: list, before: last), place)
                newest += places
                if places.count == count { ends.append((list, places.last)) }
            }
            newest.sort(by: isNewer)
            newest.removeLast(max(0, newest.count - limit))
            let oldest = newest.count == limit ? newest.last : nil
            reading = ends.filter { end in
                guard let oldest, let last = end.last else { return true }
                return isNewer(last, oldest)
            }
            count = min(limit, count * 2)
        }
        return newest.map(\.id)
    }

    /// Returns ids as an array in JSON.
    private static func json(_ ids: [some SQLConvertible]) throws -> String {
        var array = Array("[".utf8)
        for id in ids {
            if array.count > 1 { array.append(UInt8(ascii: ",")) }
            switch id.sqlValue {
            case .integer(let number): array.append(contentsOf: String(number).utf8)
            case .text(let text): array.append(contentsOf: try JSONEncoder().encode(text))
            default: throw DatabaseFailure.failed("an id is a number or a text")
            }
        }
        array.append(UInt8(ascii: "]"))
        return String(decoding: array, as: UTF8.self)
    }
}
