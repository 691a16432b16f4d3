import GRDBSQLite

/// One row of a result, by column index. It is valid only inside the closure that receives it.
public struct Row: ~Copyable {
    enum Source {
        /// The current row of a statement.
        case sqlite(OpaquePointer)
        case postgreSQL(PostgreSQLResult, row: Int32)
    }

    private let source: Source

    init(_ source: Source) { self.source = source }

    /// Reads a column as the requested type.
    @inlinable
    public func get<T: SQLConvertible>(_ index: Int, as _: T.Type = T.self) throws -> T {
        try T(column: index, of: self)
    }

    public func isNull(_ index: Int) -> Bool {
        switch source {
        case .sqlite(let statement): sqlite3_column_type(statement, CInt(index)) == SQLITE_NULL
        case .postgreSQL(let result, let row): result.isNull(row, CInt(index))
        }
    }

    /// Returns whether SQLite has stored a value of this type. PostgreSQL's columns have values of one type alone.
    func has(_ type: Int32, _ index: Int) -> Bool {
        switch source {
        case .sqlite(let statement): sqlite3_column_type(statement, CInt(index)) == type
        case .postgreSQL: true
        }
    }

    func integer(_ index: Int) -> Int64? {
        switch source {
        case .sqlite(let statement):
            // NULL is read as zero, so that a column's type is asked for with zeros alone.
            let value = sqlite3_column_int64(statement, CInt(index))
            return value != 0 || sqlite3_column_type(statement, CInt(index)) != SQLITE_NULL ? value : nil
        case .postgreSQL(let result, let row):
            return result.isNull(row, CInt(index)) ? nil : result.integer(row, CInt(index))
        }
    }

    func real(_ index: Int) -> Double? {
        if isNull(index) { return nil }
        return switch source {
        case .sqlite(let statement): sqlite3_column_double(statement, CInt(index))
        case .postgreSQL(let result, let row): Double(result.text(row, CInt(index)))
        }
    }

    func text(_ index: Int) -> String? {
        switch source {
        case .sqlite(let statement):
            // NULL has no text. The text is read before its length, because reading it may convert the value.
            guard let text = sqlite3_column_text(statement, CInt(index)) else { return nil }
            let count = Int(sqlite3_column_bytes(statement, CInt(index)))
            return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
        case .postgreSQL(let result, let row):
            return result.isNull(row, CInt(index)) ? nil : result.text(row, CInt(index))
        }
    }

    /// Passes a column's text without a copy, ended by NUL. It does nothing for NULL.
    public func withText(_ index: Int, _ body: (UnsafePointer<CChar>) throws -> Void) rethrows {
        if isNull(index) { return }
        switch source {
        case .sqlite(let statement):
            guard let text = sqlite3_column_text(statement, CInt(index)) else { return }
            try body(UnsafeRawPointer(text).assumingMemoryBound(to: CChar.self))
        case .postgreSQL(let result, let row):
            if let text = result.pointer(row, CInt(index)) { try body(text) }
        }
    }

    func bytes(_ index: Int) -> [UInt8]? {
        if isNull(index) { return nil }
        switch source {
        case .sqlite(let statement):
            let bytes = sqlite3_column_blob(statement, CInt(index))
            let count = Int(sqlite3_column_bytes(statement, CInt(index)))
            return [UInt8](UnsafeRawBufferPointer(start: bytes, count: count))
        case .postgreSQL(let result, let row):
            return result.bytes(row, CInt(index))
        }
    }
}
