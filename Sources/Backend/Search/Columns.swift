import Contract
import Database

// How the contract's values are kept in a column: the one place where contract and database meet.

extension Identifier: SQLConvertible {
    public var sqlValue: SQLValue { .integer(rawValue) }
    public init(column index: Int, of row: borrowing Row) throws {
        self.init(try Int64(column: index, of: row))
    }
}

extension Timestamp: SQLConvertible {
    /// Milliseconds since 1970, so that one column serves every precision.
    public var sqlValue: SQLValue { .integer(milliseconds) }
    public init(column index: Int, of row: borrowing Row) throws {
        self.init(milliseconds: try Int64(column: index, of: row))
    }
}

extension Day: SQLConvertible {
    /// Days since 1970-01-01.
    public var sqlValue: SQLValue { .integer(daysSince1970) }
    public init(column index: Int, of row: borrowing Row) throws {
        self.init(daysSince1970: try Int64(column: index, of: row))
    }
}

extension OpenEnumeration {
    public var sqlValue: SQLValue { .text(rawValue) }
    public init(column index: Int, of row: borrowing Row) throws {
        self.init(rawValue: try String(column: index, of: row))
    }
}

extension TextIdentifier: SQLConvertible {
    public var sqlValue: SQLValue { .text(rawValue) }
    public init(column index: Int, of row: borrowing Row) throws {
        self.init(try String(column: index, of: row))
    }
}
