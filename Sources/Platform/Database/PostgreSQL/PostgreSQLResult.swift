import CLibPQ

/// A complete result of the server, with values as text. A column is read only when it is not null.
final class PostgreSQLResult {
    private let handle: OpaquePointer
    let count: Int32

    /// - Throws: ``DatabaseFailure`` when the statement failed.
    init(_ handle: OpaquePointer?, of connection: PostgreSQLConnection) throws {
        guard let handle else { throw DatabaseFailure.unavailable(connection.errorMessage) }
        let status = PQresultStatus(handle)
        guard status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK else {
            let state = PQresultErrorField(handle, CONCORD_DIAG_SQLSTATE).map { String(cString: $0) }
            let message =
                PQresultErrorField(handle, CONCORD_DIAG_MESSAGE).map { String(cString: $0) } ?? connection.errorMessage
            PQclear(handle)
            // The server is shutting down or starting, and does not answer on this connection any more.
            if let state, state.hasPrefix("08") || ["57P01", "57P02", "57P03"].contains(state) { connection.discard() }
            throw DatabaseFailure(state: connection.isBroken ? nil : state, message)
        }
        self.handle = handle
        count = PQntuples(handle)
    }

    deinit { PQclear(handle) }

    /// The command tag, such as `COMMIT` or `INSERT 0 1`.
    var tag: String { String(cString: PQcmdStatus(handle)) }

    var changes: Int { Int(String(cString: PQcmdTuples(handle))) ?? 0 }

    /// Calls the closure for each row until there is none, or until it returns `false`.
    func rows(_ each: (borrowing Row) throws -> Bool) throws {
        for row in 0..<count {
            if try !each(Row(.postgreSQL(self, row: row))) { return }
        }
    }

    func isNull(_ row: Int32, _ column: Int32) -> Bool { PQgetisnull(handle, row, column) == 1 }

    func text(_ row: Int32, _ column: Int32) -> String {
        String(decoding: value(row, column), as: UTF8.self)
    }

    /// Returns nil when the text is not a 64-bit integer.
    func integer(_ row: Int32, _ column: Int32) -> Int64? {
        var result: Int64 = 0
        let digits = value(row, column)
        let isNegative = digits.first == UInt8(ascii: "-")
        if digits.count == (isNegative ? 1 : 0) { return nil }
        for digit in digits.dropFirst(isNegative ? 1 : 0) {
            guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= digit else { return nil }
            // The number is built downwards, because the lowest number has no positive counterpart.
            let (tens, isTooLarge) = result.multipliedReportingOverflow(by: 10)
            let (next, overflows) = tens.subtractingReportingOverflow(Int64(digit - UInt8(ascii: "0")))
            if isTooLarge || overflows { return nil }
            result = next
        }
        if isNegative { return result }
        return result == .min ? nil : -result
    }

    /// Returns nil when the text is not one of `bytea`.
    func bytes(_ row: Int32, _ column: Int32) -> [UInt8]? { ByteText.decode(value(row, column)) }

    /// Returns a pointer to a value's text, ended by NUL, which is valid as long as this result; nil when there is no such
    /// column.
    func pointer(_ row: Int32, _ column: Int32) -> UnsafePointer<CChar>? {
        UnsafePointer(PQgetvalue(handle, row, column))
    }

    private func value(_ row: Int32, _ column: Int32) -> UnsafeBufferPointer<UInt8> {
        guard let pointer = pointer(row, column) else { return UnsafeBufferPointer(start: nil, count: 0) }
        let start = UnsafeRawPointer(pointer).assumingMemoryBound(to: UInt8.self)
        return UnsafeBufferPointer(start: start, count: Int(PQgetlength(handle, row, column)))
    }
}

extension DatabaseFailure {
    /// Makes an error from the class of an SQLSTATE (PostgreSQL, appendix A); nil when the connection was closed.
    init(state: String?, _ message: String) {
        switch state {
        case nil: self = .unavailable(message)
        case "40001"?, "40P01"?: self = .conflict(message)
        case "53100"?: self = .full(message)
        // These are timeouts of statements and locks.
        case "57014"?, "55P03"?: self = .unavailable(message)
        case let state?:
            switch state.prefix(2) {
            case "23": self = .constraint(message)
            case "08", "53", "57", "58": self = .unavailable(message)
            default: self = .failed("\(state) \(message)")
            }
        }
    }
}
