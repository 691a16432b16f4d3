/// The columns of a `SELECT` by their names: the one source of its text and of the places at which its rows are read.
///
/// Each case is a column, and has its SQL. So no place is counted by eye, and a column that is not selected has no case by
/// which it could be read. Rows with more than six columns are read in this way.
///
/// ```swift
/// enum Column: String, Columns {
///     case id
///     case name = "display_name"
///
///     static let list = ColumnList(Self.self)
/// }
///
/// try db.all("SELECT \(Column.list) FROM users") { User(id: try $0.get(Column.id), name: try $0.get(Column.name)) }
/// ```
public protocol Columns: RawRepresentable<String>, CaseIterable, Sendable {
    /// The columns as a statement has them, which are made once.
    static var list: ColumnList { get }
}

extension Columns {
    /// The place of the column in the list.
    ///
    /// An enumeration without associated values is stored as the number of its case, which takes no time to read.
    /// ``ColumnList`` makes sure of it.
    @inlinable
    public var place: Int { MemoryLayout<Self>.size == 0 ? 0 : Int(unsafeBitCast(self, to: UInt8.self)) }
}

/// The list of columns of a `SELECT`: `SELECT \(Column.list) FROM …`.
public struct ColumnList: Sendable {
    let sql: SQL
    /// The number of the columns, and so the place of the next column behind them.
    public let count: Int

    /// Makes the list of all columns, in the order of the cases.
    public init<Column: Columns>(_: Column.Type) {
        let columns = Array(Column.allCases)
        precondition(columns.map(\.place) == Array(columns.indices), "Column is not an enumeration")
        sql = SQL(trusted: columns.map(\.rawValue).joined(separator: ", "))
        count = columns.count
    }
}

extension SQL.StringInterpolation {
    /// Inserts a list of columns.
    public mutating func appendInterpolation(_ list: ColumnList) { appendInterpolation(list.sql) }
}

extension Row {
    /// Reads a column as the requested type.
    ///
    /// - Parameter count: The number of the columns that stand before the list in the statement.
    @inlinable
    public func get<T: SQLConvertible>(
        _ column: some Columns, behind count: Int = 0, as _: T.Type = T.self
    ) throws -> T {
        try T(column: count + column.place, of: self)
    }

    /// Returns whether a column is null.
    @inlinable
    public func isNull(_ column: some Columns) -> Bool { isNull(column.place) }
}
