import Crypto
import GRDBSQLite

/// Reads a table page by page, in the order of its primary key.
struct TablePages {
    let table: TableShape

    typealias Values = [SQLValue]

    /// Returns the rows behind a position.
    ///
    /// - Parameter position: The key of the last row of the page before; nil for the first page.
    /// - Returns: The rows, with the values in the order of the table's columns. A table without a key is one page.
    func page(after position: Values?, limit: Int, in db: Session) throws -> [Values] {
        let columns = table.columns.map { "\"\($0.name)\"" }.joined(separator: ", ")
        let select = SQL(trusted: "SELECT \(columns) FROM \(table.quotedName)")
        guard !table.key.isEmpty else { return try position == nil ? rows(select, in: db) : [] }
        let key = SQL(trusted: table.key.map { "\"\($0)\"" }.joined(separator: ", "))
        let condition: SQL = position.map { " WHERE (\(key)) > (\(values: $0))" } ?? ""
        return try rows("\(select)\(condition) ORDER BY \(key) LIMIT \(limit)", in: db)
    }

    /// Returns the key of a row.
    func position(of row: Values) -> Values {
        table.key.compactMap { name in table.columns.firstIndex { $0.name == name }.map { row[$0] } }
    }

    private func rows(_ query: SQL, in db: Session) throws -> [Values] {
        try db.all(query) { row in
            var values: Values = []
            values.reserveCapacity(table.columns.count)
            for (index, column) in table.columns.enumerated() {
                values.append(try row.value(index, as: column.kind, of: column.name, in: table.name))
            }
            return values
        }
    }

    /// Adds rows to a table that has the same columns.
    func insert(_ rows: [Values], in db: Session) throws {
        let columns = table.columns.map { "\"\($0.name)\"" }.joined(separator: ", ")
        let into = SQL(trusted: "INSERT INTO \(table.quotedName) (\(columns)) VALUES ")
        // A statement can have 32,766 values on SQLite.
        let together = max(1, min(200, 30_000 / table.columns.count))
        for start in stride(from: 0, to: rows.count, by: together) {
            let part = rows[start..<min(start + together, rows.count)]
            if db.dialect == .postgreSQL { try requireNoZero(part) }
            try db.run("\(into)\(joined: part.map { "(\(values: $0))" })")
        }
    }

    /// PostgreSQL's texts cannot have the character U+0000.
    private func requireNoZero(_ rows: ArraySlice<Values>) throws {
        for row in rows {
            for (value, column) in zip(row, table.columns) {
                guard case .text(let text) = value, text.utf8.contains(0) else { continue }
                throw MoveRefused(
                    """
                    A row of \(table.name) has the character U+0000 in \(column.name), which PostgreSQL cannot store: \
                    \(position(of: row))
                    """)
            }
        }
    }
}

/// The number and a digest of a table's rows, which do not depend on their order.
struct TableDigest: Equatable {
    private(set) var count = 0
    private var sum: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    mutating func add(_ row: [SQLValue]) {
        var hash = SHA256()
        for value in row {
            switch value {
            case .null: hash.update(data: [0])
            case .integer(let number): Self.add(1, withUnsafeBytes(of: number.littleEndian) { Array($0) }, to: &hash)
            case .real(let number):
                Self.add(2, withUnsafeBytes(of: number.bitPattern.littleEndian) { Array($0) }, to: &hash)
            case .text(let text): Self.add(3, Array(text.utf8), to: &hash)
            case .bytes(let bytes): Self.add(4, bytes, to: &hash)
            }
        }
        let words = Array(hash.finalize()).withUnsafeBytes { Array($0.bindMemory(to: UInt64.self)) }
        count += 1
        sum = (sum.0 &+ words[0], sum.1 &+ words[1], sum.2 &+ words[2], sum.3 &+ words[3])
    }

    private static func add(_ tag: UInt8, _ bytes: [UInt8], to hash: inout SHA256) {
        hash.update(data: [tag])
        hash.update(data: withUnsafeBytes(of: UInt64(bytes.count).littleEndian) { Array($0) })
        hash.update(data: bytes)
    }

    static func == (a: Self, b: Self) -> Bool { a.count == b.count && a.sum == b.sum }
}

extension Row {
    /// Reads a column as a kind.
    ///
    /// - Throws: ``MoveRefused`` when SQLite has stored another kind of value there.
    func value(_ index: Int, as kind: TableShape.Kind, of column: String, in table: String) throws -> SQLValue {
        if isNull(index) { return .null }
        let value: SQLValue? =
            switch kind {
            case .integer: has(SQLITE_INTEGER, index) ? integer(index).map(SQLValue.integer) : nil
            case .real:
                has(SQLITE_FLOAT, index) || has(SQLITE_INTEGER, index) ? real(index).map(SQLValue.real) : nil
            case .text: has(SQLITE_TEXT, index) ? text(index).map(SQLValue.text) : nil
            case .bytes: has(SQLITE_BLOB, index) ? bytes(index).map(SQLValue.bytes) : nil
            }
        guard let value else {
            throw MoveRefused("A row of \(table) has a value in \(column) that is not of the kind \(kind.rawValue)")
        }
        return value
    }
}
