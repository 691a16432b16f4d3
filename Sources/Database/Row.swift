import GRDBSQLite

/// One row of a result, by column index. Valid only inside the closure that receives it.
public struct Row: ~Copyable {
    private let statement: OpaquePointer

    init(_ statement: OpaquePointer) { self.statement = statement }

    /// Reads a column as the type that is asked for.
    public func get<T: SQLConvertible>(_ index: Int, as _: T.Type = T.self) throws -> T {
        try T(column: index, of: self)
    }

    public func isNull(_ index: Int) -> Bool { sqlite3_column_type(statement, CInt(index)) == SQLITE_NULL }

    func integer(_ index: Int) -> Int64? {
        isNull(index) ? nil : sqlite3_column_int64(statement, CInt(index))
    }

    func real(_ index: Int) -> Double? {
        isNull(index) ? nil : sqlite3_column_double(statement, CInt(index))
    }

    func text(_ index: Int) -> String? {
        // The text first, then its length: the former may convert the value.
        guard !isNull(index), let text = sqlite3_column_text(statement, CInt(index)) else { return nil }
        let count = Int(sqlite3_column_bytes(statement, CInt(index)))
        return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
    }

    func bytes(_ index: Int) -> [UInt8]? {
        guard !isNull(index) else { return nil }
        let bytes = sqlite3_column_blob(statement, CInt(index))
        return [UInt8](UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(statement, CInt(index)))))
    }
}
