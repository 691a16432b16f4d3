import GRDB
import GRDBSQLite

/// A statement from the connection's cache with its values bound, which is stepped through once.
struct PreparedStatement: ~Copyable {
    private let statement: OpaquePointer
    private let connection: SQLiteConnection

    init(_ sql: SQL, on connection: SQLiteConnection) throws {
        let statement = try connection.prepared(sql)
        var index: CInt = 0
        for part in sql.parts {
            guard case .value(let value) = part else { continue }
            index += 1
            let code = value.bind(to: statement, at: index)
            guard code == SQLITE_OK else { throw connection.error(code, sql.text) }
        }
        guard sqlite3_bind_parameter_count(statement) == index else {
            throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "wrong number of values", sql: sql.text)
        }
        self.statement = statement
        self.connection = connection
    }

    /// Releases the row and its locks.
    deinit { sqlite3_reset(statement) }

    /// Steps to the next row. Returns false when there is none.
    func step() throws -> Bool {
        let code = sqlite3_step(statement)
        if code == SQLITE_ROW { return true }
        guard code == SQLITE_DONE else { throw connection.error(code, String(cString: sqlite3_sql(statement))) }
        return false
    }

    var isReadOnly: Bool { sqlite3_stmt_readonly(statement) != 0 }

    /// The current row.
    var row: Row { Row(.sqlite(statement)) }
}

extension SQLValue {
    /// Binds a copy of the value, which SQLite owns.
    fileprivate func bind(to statement: OpaquePointer, at index: CInt) -> CInt {
        let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)  // SQLITE_TRANSIENT, a macro Swift cannot see
        switch self {
        case .null: return sqlite3_bind_null(statement, index)
        case .integer(let value): return sqlite3_bind_int64(statement, index, value)
        case .real(let value): return sqlite3_bind_double(statement, index, value)
        case .text(var value):
            return value.withUTF8 { text in
                text.withMemoryRebound(to: CChar.self) {
                    sqlite3_bind_text(statement, index, $0.baseAddress, CInt($0.count), copied)
                }
            }
        case .bytes(let value):
            return value.withUnsafeBytes {
                $0.isEmpty
                    ? sqlite3_bind_zeroblob(statement, index, 0)
                    : sqlite3_bind_blob(statement, index, $0.baseAddress, CInt($0.count), copied)
            }
        }
    }
}
