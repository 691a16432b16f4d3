import Foundation

/// A statement and the values bound to it: `"SELECT name FROM users WHERE id = \(id)"`.
///
/// An interpolated value is bound, never spliced, so no text can become SQL. One text serves both engines.
public struct SQL: Sendable, ExpressibleByStringInterpolation {
    let statement: StatementText
    public let values: [SQLValue]

    /// The text, with `?` for each bound value.
    public var text: String { statement.text }

    public init(stringLiteral literal: StaticString) {
        statement = StatementText(literal.withUTF8Buffer { Array($0) })
        values = []
    }

    /// Creates a piece from text that the code has made, such as the name of a table. It must never come from a request.
    public init(trusted text: String) { self.init(text, []) }

    init(_ text: String, _ values: [SQLValue]) {
        statement = StatementText(Array(text.utf8))
        self.values = values
    }

    public init(stringInterpolation: StringInterpolation) {
        statement = StatementText(stringInterpolation.text)
        values = stringInterpolation.values
    }

    /// A statement that is being put together. The text is kept as bytes, because appending to a `String` costs more
    /// than the rest of a short statement.
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text: [UInt8] = []
        fileprivate var values: [SQLValue] = []

        public init(literalCapacity: Int, interpolationCount: Int) {
            // Pieces come on top. One allocation that is too large costs less than a second one.
            text.reserveCapacity(max(literalCapacity + interpolationCount, 256))
            values.reserveCapacity(max(interpolationCount, 8))
        }

        public mutating func appendLiteral(_ literal: StaticString) {
            literal.withUTF8Buffer { text.append(contentsOf: $0) }
        }

        private mutating func bind(_ value: SQLValue) {
            text.append(UInt8(ascii: "?"))
            values.append(value)
        }

        public mutating func appendInterpolation(_ value: some SQLConvertible) { bind(value.sqlValue) }

        /// Binds an optional value: NULL when there is none.
        public mutating func appendInterpolation<Value: SQLConvertible>(_ value: Value?) {
            bind(value?.sqlValue ?? .null)
        }

        /// Binds each element, with commas between: `WHERE id IN (\(list: ids))`. An empty list is `NULL`, which
        /// matches nothing.
        public mutating func appendInterpolation(list elements: some Collection<some SQLConvertible>) {
            if elements.isEmpty { return appendLiteral("NULL") }
            for (index, element) in elements.enumerated() {
                if index > 0 { appendLiteral(", ") }
                bind(element.sqlValue)
            }
        }

        /// Joins pieces with commas, such as the rows of `VALUES`.
        public mutating func appendInterpolation(joined pieces: [SQL]) {
            for (index, piece) in pieces.enumerated() {
                if index > 0 { appendLiteral(", ") }
                appendInterpolation(piece)
            }
        }

        /// Inserts a piece of SQL with its own bindings.
        public mutating func appendInterpolation(_ piece: SQL) {
            text.append(contentsOf: piece.statement.bytes)
            values.append(contentsOf: piece.values)
        }
    }
}

/// The text of a statement, which is hashed by a few of its bytes: statements are few, their texts long, and each
/// execution looks for one.
struct StatementText: Hashable {
    /// The text in UTF-8.
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    static func == (one: Self, other: Self) -> Bool {
        guard one.bytes.count == other.bytes.count else { return false }
        return one.bytes.withUnsafeBytes { one in
            other.bytes.withUnsafeBytes { one.count == 0 || memcmp(one.baseAddress!, $0.baseAddress!, one.count) == 0 }
        }
    }

    func hash(into hasher: inout Hasher) {
        bytes.withUnsafeBytes { bytes in
            hasher.combine(bytes.count)
            guard bytes.count >= 8 else { return hasher.combine(bytes: bytes) }
            for quarter in 1...4 {
                hasher.combine(bytes.loadUnaligned(fromByteOffset: (bytes.count - 8) * quarter / 4, as: UInt64.self))
            }
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
