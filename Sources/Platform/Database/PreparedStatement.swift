import GRDB
import GRDBSQLite

/// A statement from the connection's cache with its values bound, which is stepped through once.
///
/// It calls SQLite directly: GRDB's arguments and rows cost several times what the statements of a request do.
struct PreparedStatement: ~Copyable {
    private let statement: Statement
    private let connection: GRDB.Database

    init(_ sql: SQL, on connection: GRDB.Database) throws {
        let statement = try connection.cachedStatement(sql: sql.text)
        guard sqlite3_bind_parameter_count(statement.sqliteStatement) == sql.values.count else {
            throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "wrong number of values", sql: sql.text)
        }
        for (index, value) in sql.values.enumerated() {
            let code = value.bind(to: statement.sqliteStatement, at: CInt(index + 1))
            guard code == SQLITE_OK else { throw Self.error(code, sql.text, connection) }
        }
        self.statement = statement
        self.connection = connection
    }

    /// Releases the row and its locks.
    deinit { sqlite3_reset(statement.sqliteStatement) }

    /// Steps to the next row. Returns false when there is none.
    func step() throws -> Bool {
        let code = sqlite3_step(statement.sqliteStatement)
        if code == SQLITE_ROW { return true }
        guard code == SQLITE_DONE else { throw Self.error(code, statement.sql, connection) }
        return false
    }

    var isReadOnly: Bool { sqlite3_stmt_readonly(statement.sqliteStatement) != 0 }

    /// The current row.
    var row: Row { Row(.sqlite(statement.sqliteStatement)) }

    private static func error(_ code: CInt, _ sql: String, _ connection: GRDB.Database) -> DatabaseError {
        let message = sqlite3_errmsg(connection.sqliteConnection).map { String(cString: $0) }
        return DatabaseError(resultCode: ResultCode(rawValue: code), message: message, sql: sql)
    }
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
