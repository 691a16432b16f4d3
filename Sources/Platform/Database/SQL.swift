/// A statement and the values bound to it: `"SELECT name FROM users WHERE id = \(id)"`.
///
/// An interpolated value is bound, never spliced, so no text can become SQL. One text serves both engines.
public struct SQL: Sendable, ExpressibleByStringInterpolation {
    /// The text, with `?` for each bound value.
    public private(set) var text: String
    public private(set) var values: [SQLValue]

    public init(stringLiteral value: String) {
        text = value
        values = []
    }

    /// Creates a piece from a name in the code, which must never come from a request.
    init(_ name: String) { self.init(name, []) }

    init(_ text: String, _ values: [SQLValue]) {
        self.text = text
        self.values = values
    }

    public init(stringInterpolation: StringInterpolation) {
        text = stringInterpolation.text
        values = stringInterpolation.values
    }

    public struct StringInterpolation: StringInterpolationProtocol {
        var text = ""
        var values: [SQLValue] = []

        public init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + interpolationCount)
            values.reserveCapacity(interpolationCount)
        }

        public mutating func appendLiteral(_ literal: String) { text += literal }

        public mutating func appendInterpolation(_ value: some SQLConvertible) {
            text += "?"
            values.append(value.sqlValue)
        }

        /// Binds an optional value: NULL when there is none.
        public mutating func appendInterpolation<Value: SQLConvertible>(_ value: Value?) {
            text += "?"
            values.append(value?.sqlValue ?? .null)
        }

        /// Binds each element, with commas between: `WHERE id IN (\(list: ids))`. An empty list is `NULL`, which
        /// matches nothing.
        public mutating func appendInterpolation(list elements: some Collection<some SQLConvertible>) {
            let count = elements.count
            text += count == 0 ? "NULL" : String(repeating: "?, ", count: count - 1) + "?"
            values.append(contentsOf: elements.map(\.sqlValue))
        }

        /// Joins pieces with commas, such as the rows of `VALUES`.
        public mutating func appendInterpolation(joined pieces: [SQL]) {
            text += pieces.map(\.text).joined(separator: ", ")
            for piece in pieces { values.append(contentsOf: piece.values) }
        }

        /// Inserts a piece of SQL with its own bindings.
        public mutating func appendInterpolation(_ piece: SQL) {
            text += piece.text
            values.append(contentsOf: piece.values)
        }
    }
}

/// A value that a database stores.
public enum SQLValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case bytes([UInt8])
}

/// A type that can be bound and read back.
public protocol SQLConvertible: Sendable {
    var sqlValue: SQLValue { get }

    /// Reads a column.
    ///
    /// - Throws: ``UnreadableColumn`` when it contains another type.
    init(column index: Int, of row: borrowing Row) throws
}

/// The error for a column with another type than the code expects: the schema and the code disagree.
public struct UnreadableColumn: Error, CustomStringConvertible {
    public let index: Int
    public let expected: String
    public var description: String { "column \(index) is not a \(expected)" }

    public init(index: Int, expected: String) {
        self.index = index
        self.expected = expected
    }
}

extension Int64: SQLConvertible {
    public var sqlValue: SQLValue { .integer(self) }
    public init(column index: Int, of row: borrowing Row) throws {
        guard let value = row.integer(index) else { throw UnreadableColumn(index: index, expected: "integer") }
        self = value
    }
}

extension Int: SQLConvertible {
    public var sqlValue: SQLValue { .integer(Int64(self)) }
    public init(column index: Int, of row: borrowing Row) throws {
        self = Int(try Int64(column: index, of: row))
    }
}

extension Bool: SQLConvertible {
    /// The value 0 or 1, on both engines.
    public var sqlValue: SQLValue { .integer(self ? 1 : 0) }
    public init(column index: Int, of row: borrowing Row) throws {
        self = try Int64(column: index, of: row) != 0
    }
}

extension Double: SQLConvertible {
    public var sqlValue: SQLValue { .real(self) }
    public init(column index: Int, of row: borrowing Row) throws {
        guard let value = row.real(index) else { throw UnreadableColumn(index: index, expected: "number") }
        self = value
    }
}

extension String: SQLConvertible {
    public var sqlValue: SQLValue { .text(self) }
    public init(column index: Int, of row: borrowing Row) throws {
        guard let value = row.text(index) else { throw UnreadableColumn(index: index, expected: "text") }
        self = value
    }
}

extension [UInt8]: SQLConvertible {
    public var sqlValue: SQLValue { .bytes(self) }
    public init(column index: Int, of row: borrowing Row) throws {
        guard let value = row.bytes(index) else { throw UnreadableColumn(index: index, expected: "byte string") }
        self = value
    }
}

extension Optional: SQLConvertible where Wrapped: SQLConvertible {
    public var sqlValue: SQLValue { self?.sqlValue ?? .null }
    public init(column index: Int, of row: borrowing Row) throws {
        self = row.isNull(index) ? nil : try Wrapped(column: index, of: row)
    }
}
