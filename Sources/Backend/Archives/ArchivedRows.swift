import Contract
import ContractServer
import Database
import Foundation

/// The rows of a table that belong to a person, as a document of an archive: a JSON list of objects with the columns' names.
public struct ArchivedRows: Sendable {
    /// A column of which no two rows of a person have the same value. It orders the document.
    public enum Key: Sendable {
        case integer(String)
        case text(String)
        case bytes(String)

        var column: String {
            switch self {
            case .integer(let column), .text(let column), .bytes(let column): column
            }
        }
    }

    /// How a column is written.
    public enum Form: Sendable {
        case integer, text, real
        /// A number that is 0 or 1, as a boolean.
        case flag
        /// Milliseconds since 1970, as `2026-02-23T10:00:00.000Z`.
        case time
        /// Days since 1970, as `2026-02-23`.
        case day
        /// A text that is JSON itself.
        case json
    }

    /// The name of the document without its extension.
    public let name: String
    public let table: String
    /// The columns that are written, in their order.
    public let columns: KeyValuePairs<String, Form>
    /// The columns that are not written, because they mean nothing to the person or protect the account.
    public let left: [String]
    /// The column that has the person's id.
    public let owner: String
    private let key: Key
    private let joined: String?
    private let isIndexed: Bool

    /// The number of rows that are in memory at a time.
    private static let page = 500
    /// The number of ids that one query looks at in a table without an index by person.
    private static let span: Int64 = 50_000

    /// - Parameters:
    ///   - name: The name of the document without its extension; by default the table's.
    ///   - owner: The column that has the person's id.
    ///   - joined: Another table with the condition of its join, whose columns are written as well: `users.username`.
    ///   - isIndexed: Whether an index begins with `owner`. Without one the table is read in slices of its key, which is an
    ///     integer then, so that no query is long.
    ///   - left: The table's other columns, except `owner`.
    public init(
        _ table: String, as name: String? = nil, joining joined: String? = nil, of owner: String, by key: Key,
        isIndexed: Bool = true,
        _ columns: KeyValuePairs<String, Form>, without left: [String] = []
    ) {
        self.name = name ?? table
        self.table = table
        self.owner = owner
        self.key = key
        self.joined = joined
        self.isIndexed = isIndexed
        self.columns = columns
        self.left = left
    }

    /// Returns the document of a person.
    func document(of person: some SQLConvertible, in database: Database) -> ArchiveDocument {
        ArchiveDocument("\(name).json") { write in
            try await write(Array("[".utf8))
            var separator = ""
            var last: SQLValue?
            while let page = try await self.page(of: person, after: last, in: database) {
                for row in page.rows {
                    try await write(Array(separator.utf8) + Array(try JSONBody.encode(row).readableBytesView))
                    separator = ","
                }
                last = page.last
            }
            try await write(Array("]\n".utf8))
        }
    }

    private struct Page: Sendable {
        var rows: [ArchivedRow]
        /// The value of the key behind which the next page begins.
        var last: SQLValue
    }

    /// Returns the rows behind a value of the key; nil at the end.
    private func page(
        of person: some SQLConvertible, after last: SQLValue?, in database: Database
    ) async throws -> Page? {
        try await database.read { db in
            let key = SQL(trusted: "\(table).\(self.key.column)")
            var condition: SQL = "\(SQL(trusted: "\(table).\(owner)")) = \(person)"
            switch last {
            case .integer(let id): condition = "\(condition) AND \(key) > \(id)"
            case .text(let id): condition = "\(condition) AND \(key) > \(id)"
            case .bytes(let id): condition = "\(condition) AND \(key) > \(id)"
            default: break
            }
            var end: Int64?
            if !isIndexed {
                let start = if case .integer(let id) = last { id } else { Int64(0) }
                let newest: Int64? = try db.value("SELECT COALESCE(MAX(\(key)), 0) FROM \(SQL(trusted: table))")
                guard let newest, newest > start else { return nil }
                end = start + Self.span
                condition = "\(condition) AND \(key) <= \(start + Self.span)"
            }
            let rows = try db.all(
                """
                SELECT \(SQL(trusted: list)), \(key) FROM \(SQL(trusted: source))
                WHERE \(condition) ORDER BY \(key) LIMIT \(Self.page)
                """
            ) { try ArchivedRow(row: $0, self.columns, key: self.key) }
            if rows.count < Self.page, let end { return Page(rows: rows, last: .integer(end)) }
            guard let newest = rows.last else { return nil }
            return Page(rows: rows, last: newest.key)
        }
    }

    private var source: String { joined.map { "\(table) JOIN \($0)" } ?? table }
    private var list: String {
        columns.map { $0.key.contains(".") ? $0.key : "\(table).\($0.key)" }.joined(separator: ", ")
    }
}

/// A row as it is written.
private struct ArchivedRow: Encodable, Sendable {
    let columns: KeyValuePairs<String, ArchivedRows.Form>
    let values: [SQLValue]
    let key: SQLValue

    init(
        row: borrowing Row, _ columns: KeyValuePairs<String, ArchivedRows.Form>, key: ArchivedRows.Key
    ) throws {
        self.columns = columns
        self.key =
            switch key {
            case .integer: .integer(try row.get(columns.count))
            case .text: .text(try row.get(columns.count))
            case .bytes: .bytes(try row.get(columns.count))
            }
        var values: [SQLValue] = []
        for (index, column) in columns.enumerated() {
            let value: SQLValue? =
                switch column.value {
                case .integer, .flag, .time, .day: try row.get(index, as: Int64?.self).map { .integer($0) }
                case .real: try row.get(index, as: Double?.self).map { .real($0) }
                case .text, .json: try row.get(index, as: String?.self).map { .text($0) }
                }
            values.append(value ?? .null)
        }
        self.values = values
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        /// - Parameter column: A column, perhaps with its table before it.
        init(_ column: String) { stringValue = String(column.split(separator: ".").last ?? "") }
        init?(stringValue: String) { self.init(stringValue) }
        init?(intValue: Int) { nil }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        for ((name, form), value) in zip(columns, values) {
            let key = Key(name)
            switch (form, value) {
            case (.flag, .integer(let number)): try container.encode(number != 0, forKey: key)
            case (.time, .integer(let number)):
                try container.encode(Timestamp<Milliseconds>(milliseconds: number), forKey: key)
            case (.day, .integer(let number)): try container.encode(Day(daysSince1970: number), forKey: key)
            case (.json, .text(let text)):
                let value = try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
                try container.encode(value ?? .string(text), forKey: key)
            case (_, .integer(let number)): try container.encode(number, forKey: key)
            case (_, .real(let number)): try container.encode(number, forKey: key)
            case (_, .text(let text)): try container.encode(text, forKey: key)
            case (_, .null), (_, .bytes): try container.encodeNil(forKey: key)
            }
        }
    }
}
