import Contract
import Database

// The SQL columns of the contract's value types: contract modules know no SQL, and the database module knows no
// contract.

extension Identifier: SQLConvertible {
    public var sqlValue: SQLValue { .integer(rawValue) }
    @inlinable
    public init(column index: Int, of row: borrowing Row) throws {
        self.init(try Int64(column: index, of: row))
    }
}

extension Timestamp: SQLConvertible {
    /// The time in milliseconds since 1970, so that one kind of column serves every precision.
    public var sqlValue: SQLValue { .integer(milliseconds) }
    @inlinable
    public init(column index: Int, of row: borrowing Row) throws {
        self.init(milliseconds: try Int64(column: index, of: row))
    }
}

extension Day: SQLConvertible {
    /// The days since 1970-01-01.
    public var sqlValue: SQLValue { .integer(daysSince1970) }
    @inlinable
    public init(column index: Int, of row: borrowing Row) throws {
        self.init(daysSince1970: try Int64(column: index, of: row))
    }
}

extension OpenEnumeration {
    public var sqlValue: SQLValue { .text(rawValue) }
    @inlinable
    public init(column index: Int, of row: borrowing Row) throws {
        self.init(rawValue: try String(column: index, of: row))
    }
}

extension TextIdentifier: SQLConvertible {
    public var sqlValue: SQLValue { .text(rawValue) }
    @inlinable
    public init(column index: Int, of row: borrowing Row) throws {
        self.init(try String(column: index, of: row))
    }
}
