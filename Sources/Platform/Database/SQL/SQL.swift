/// A statement and the values bound to it: `"SELECT name FROM users WHERE id = \(id)"`.
///
/// An interpolated value is bound, never spliced, so no text can become SQL. One text serves both engines.
///
/// A statement is kept in the parts of which the code consists, and its text is put together only when a connection
/// prepares it: statements are few, and a request executes the same ones again.
public struct SQL: Sendable, ExpressibleByStringInterpolation {
    /// A part of a statement behind its first literal.
    enum Part: Sendable {
        case literal(Literal)
        case made(MadeText)
        /// A bound value, which is `?` in the text.
        case value(SQLValue)
    }

    let first: Literal
    let parts: [Part]

    /// The text, with `?` for each bound value.
    public var text: String {
        var bytes: [UInt8] = []
        func append(_ literal: Literal) { bytes.append(contentsOf: literal.bytes) }
        append(first)
        for part in parts {
            switch part {
            case .literal(let literal): append(literal)
            case .made(let text): bytes.append(contentsOf: text.bytes)
            case .value: bytes.append(UInt8(ascii: "?"))
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The bound values, in their order.
    public var values: [SQLValue] {
        var values: [SQLValue] = []
        values.reserveCapacity(parts.count)
        for case .value(let value) in parts { values.append(value) }
        return values
    }

    public init(stringLiteral literal: StaticString) {
        first = Literal(literal)
        parts = []
    }

    /// Creates a piece from text that the code has made, such as the name of a table. It must never come from a request.
    public init(trusted text: String) {
        first = Literal("")
        parts = [.made(MadeText(text))]
    }

    init(_ first: Literal, _ parts: [Part]) {
        self.first = first
        self.parts = parts
    }

    public init(stringInterpolation: StringInterpolation) {
        first = stringInterpolation.first ?? Literal("")
        parts = stringInterpolation.parts
    }

    /// A statement that is being put together.
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var first: Literal?
        fileprivate var parts: [Part] = []

        public init(literalCapacity: Int, interpolationCount: Int) {
            // Pieces come on top. One allocation that is too large costs less than a second one.
            parts.reserveCapacity(max(2 * interpolationCount, 20))
        }

        public mutating func appendLiteral(_ literal: StaticString) { append(Literal(literal)) }

        private mutating func append(_ literal: Literal) {
            if first == nil {
                first = literal
            } else if literal.count > 0 {
                parts.append(.literal(literal))
            }
        }

        private mutating func bind(_ value: SQLValue) { parts.append(.value(value)) }

        public mutating func appendInterpolation(_ value: some SQLConvertible) { bind(value.sqlValue) }

        /// Binds an optional value: NULL when there is none.
        public mutating func appendInterpolation<Value: SQLConvertible>(_ value: Value?) {
            bind(value?.sqlValue ?? .null)
        }

        /// Binds each element, with commas between, for `IN` and `NOT IN`: `WHERE id IN (\(list: ids))`. An empty list is
        /// `NULL`, which matches nothing.
        ///
        /// The last element is repeated until their number is a power of two. Each number of values is a statement of its
        /// own, so this keeps the number of prepared statements small, and `IN` finds the same rows. Where a repeated value
        /// would matter, as in `VALUES`, the pieces are joined: `\(joined: rows)`.
        public mutating func appendInterpolation(list elements: some Collection<some SQLConvertible>) {
            if elements.isEmpty { return appendLiteral("NULL") }
            var (count, size, last) = (0, 1, SQLValue.null)
            for element in elements {
                if count > 0 { appendLiteral(", ") }
                last = element.sqlValue
                bind(last)
                count += 1
                if count > size { size *= 2 }
            }
            for _ in count..<size {
                appendLiteral(", ")
                bind(last)
            }
        }

        /// Binds values, with commas between.
        package mutating func appendInterpolation(values: [SQLValue]) {
            for (index, value) in values.enumerated() {
                if index > 0 { appendLiteral(", ") }
                bind(value)
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
            append(piece.first)
            parts.append(contentsOf: piece.parts)
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
