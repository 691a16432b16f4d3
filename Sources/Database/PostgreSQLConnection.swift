import CLibPQ
import Foundation

/// A connection to PostgreSQL through libpq, blocking. Used by one thread at a time.
final class PostgreSQLConnection: SessionConnection {
    private let handle: OpaquePointer
    private let namespace: String
    /// Statements that the server has prepared, by their text.
    private var prepared: [String: String] = [:]

    /// Connects.
    ///
    /// - Parameters:
    ///   - url: `postgres://user@host/database`, with any parameter that libpq knows.
    ///   - namespace: The schema that unqualified names mean.
    init(url: String, namespace: String) throws {
        // A server that is gone must be noticed: by a time-out, never by waiting for ever.
        let settings =
            "-c search_path=\(namespace) -c statement_timeout=30000 -c lock_timeout=10000 "
            + "-c idle_in_transaction_session_timeout=60000 -c client_min_messages=warning"
        let parameters = [
            ("dbname", url), ("connect_timeout", "5"), ("application_name", "concord"), ("options", settings),
            ("keepalives_idle", "15"), ("keepalives_interval", "5"), ("keepalives_count", "3"),
            ("tcp_user_timeout", "20000"),
        ]
        let handle = Self.withCStrings(parameters.map(\.0)) { names in
            Self.withCStrings(parameters.map(\.1)) { values in PQconnectdbParams(names, values, 1) }
        }
        guard let handle else { throw DatabaseFailure.unavailable("out of memory") }
        guard PQstatus(handle) == CONNECTION_OK else {
            // Nothing is initialised yet, so `deinit` will not do it.
            let reason = String(cString: PQerrorMessage(handle)).trimmingCharacters(in: .whitespacesAndNewlines)
            PQfinish(handle)
            throw DatabaseFailure.unavailable(reason)
        }
        // By default libpq writes what the server remarks, a shutdown too, to standard error.
        PQsetNoticeProcessor(handle, { _, _ in }, nil)
        self.handle = handle
        self.namespace = namespace
    }

    deinit { PQfinish(handle) }

    /// Whether the server has gone; the connection is of no more use then.
    var isBroken: Bool { PQstatus(handle) != CONNECTION_OK }
    var isInTransaction: Bool { PQtransactionStatus(handle) != PQTRANS_IDLE }
    var socket: Int32 { PQsocket(handle) }

    /// Runs a text as it is: `BEGIN`, `COMMIT`, `LISTEN`.
    func simple(_ text: String) throws {
        _ = try PostgreSQLResult(PQexec(handle, text), of: self)
    }

    // MARK: Statements

    func query(_ sql: SQL, _ each: (borrowing Row) throws -> Bool) throws {
        let result = try run(sql)
        for row in 0..<result.count {
            if try !each(Row(.postgreSQL(result, row: row))) { return }
        }
    }

    func execute(_ sql: SQL) throws -> Int { try run(sql).changes }

    func plan(of sql: SQL) throws -> [String] {
        var lines: [String] = []
        try query(SQL("EXPLAIN " + sql.text, sql.values)) { row in
            lines.append(try row.get(0))
            return true
        }
        return lines
    }

    private func run(_ sql: SQL) throws -> PostgreSQLResult {
        let name = try prepare(sql.text)
        // One block for all values, each ended by a NUL; pointers into it while it stays where it is.
        var block: [CChar] = []
        var offsets: [Int?] = []
        var lengths: [Int32] = []
        var formats: [Int32] = []
        for value in sql.values {
            let start = block.count
            var format: Int32 = 0
            switch value {
            case .null: break
            case .integer(let integer): block.append(contentsOf: String(integer).utf8.lazy.map(CChar.init(bitPattern:)))
            case .real(let real): block.append(contentsOf: real.description.utf8.lazy.map(CChar.init(bitPattern:)))
            case .text(let text): block.append(contentsOf: text.utf8.lazy.map(CChar.init(bitPattern:)))
            case .bytes(let bytes):
                block.append(contentsOf: bytes.lazy.map(CChar.init(bitPattern:)))
                format = 1
            }
            if case .null = value { offsets.append(nil) } else { offsets.append(start) }
            lengths.append(Int32(block.count - start))
            formats.append(format)
            block.append(0)
        }
        return try block.withUnsafeBufferPointer { block in
            let pointers = offsets.map { offset in offset.map { UnsafePointer(block.baseAddress! + $0) } }
            return try PostgreSQLResult(
                PQexecPrepared(handle, name, Int32(pointers.count), pointers, lengths, formats, 0), of: self)
        }
    }

    private func prepare(_ text: String) throws -> String {
        if let name = prepared[text] { return name }
        let name = "s\(prepared.count)"
        _ = try PostgreSQLResult(PQprepare(handle, name, Self.numbered(text), 0, nil), of: self)
        prepared[text] = name
        return name
    }

    /// `?` outside of quotes becomes `$1`, `$2` …
    static func numbered(_ text: String) -> String {
        var result = ""
        result.reserveCapacity(text.utf8.count + 16)
        var number = 0
        var quote: Character?
        for character in text {
            if let open = quote {
                if character == open { quote = nil }
            } else if character == "'" || character == "\"" {
                quote = character
            } else if character == "?" {
                number += 1
                result += "$\(number)"
                continue
            }
            result.append(character)
        }
        return result
    }

    // MARK: Notifications

    func announce(_ payload: String) throws {
        _ = try execute("SELECT pg_notify(\(Self.channel(namespace)), \(payload))")
    }

    static func channel(_ namespace: String) -> String { "concord_\(namespace)" }

    /// What has been notified, after waiting for it for at most a while.
    func notifications(waitingMilliseconds timeout: Int32) throws -> [String] {
        var descriptor = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        _ = poll(&descriptor, 1, timeout)
        guard PQconsumeInput(handle) == 1 else { throw DatabaseFailure.unavailable(errorMessage) }
        var payloads: [String] = []
        while let notification = PQnotifies(handle) {
            payloads.append(String(cString: notification.pointee.extra))
            PQfreemem(notification)
        }
        return payloads
    }

    fileprivate var errorMessage: String {
        String(cString: PQerrorMessage(handle)).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static func withCStrings<T>(
        _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> T
    ) -> T {
        let copies = strings.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        let pointers = copies.map { UnsafePointer($0) } + [nil]
        return pointers.withUnsafeBufferPointer { body($0.baseAddress!) }
    }
}

/// A result that the server has sent whole, values as text. A column is looked at only when it is not null.
final class PostgreSQLResult {
    private let handle: OpaquePointer
    let count: Int32

    /// - Throws: ``DatabaseFailure`` when the statement failed.
    fileprivate init(_ handle: OpaquePointer?, of connection: PostgreSQLConnection) throws {
        guard let handle else { throw DatabaseFailure.unavailable(connection.errorMessage) }
        let status = PQresultStatus(handle)
        guard status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK else {
            let state = PQresultErrorField(handle, CONCORD_DIAG_SQLSTATE).map { String(cString: $0) }
            let message =
                PQresultErrorField(handle, CONCORD_DIAG_MESSAGE).map { String(cString: $0) } ?? connection.errorMessage
            PQclear(handle)
            throw DatabaseFailure(state: connection.isBroken ? nil : state, message)
        }
        self.handle = handle
        count = PQntuples(handle)
    }

    deinit { PQclear(handle) }

    var changes: Int { Int(String(cString: PQcmdTuples(handle))) ?? 0 }

    func isNull(_ row: Int32, _ column: Int32) -> Bool { PQgetisnull(handle, row, column) == 1 }

    func text(_ row: Int32, _ column: Int32) -> String {
        String(decoding: value(row, column), as: UTF8.self)
    }

    /// Nil when the text is no 64-bit integer.
    func integer(_ row: Int32, _ column: Int32) -> Int64? {
        var result: Int64 = 0
        let digits = value(row, column)
        let isNegative = digits.first == UInt8(ascii: "-")
        for digit in digits.dropFirst(isNegative ? 1 : 0) {
            guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= digit else { return nil }
            // Downwards, since the lowest number has no positive counterpart.
            let (tens, isTooLarge) = result.multipliedReportingOverflow(by: 10)
            let (next, overflows) = tens.subtractingReportingOverflow(Int64(digit - UInt8(ascii: "0")))
            if isTooLarge || overflows { return nil }
            result = next
        }
        return isNegative ? result : -result
    }

    /// `\x` and hexadecimal digits.
    func bytes(_ row: Int32, _ column: Int32) -> [UInt8] {
        let text = value(row, column).dropFirst(2)
        func nibble(_ digit: UInt8) -> UInt8 {
            digit <= UInt8(ascii: "9") ? digit - UInt8(ascii: "0") : digit - UInt8(ascii: "a") + 10
        }
        return stride(from: text.startIndex, to: text.endIndex - 1, by: 2).map {
            nibble(text[$0]) << 4 | nibble(text[$0 + 1])
        }
    }

    private func value(_ row: Int32, _ column: Int32) -> UnsafeBufferPointer<UInt8> {
        let length = Int(PQgetlength(handle, row, column))
        let start = UnsafeRawPointer(PQgetvalue(handle, row, column)!).assumingMemoryBound(to: UInt8.self)
        return UnsafeBufferPointer(start: start, count: length)
    }
}

extension DatabaseFailure {
    /// By the class of an SQLSTATE (PostgreSQL, appendix A); nil when the connection is gone.
    init(state: String?, _ message: String) {
        switch state {
        case nil: self = .unavailable(message)
        case "40001"?, "40P01"?: self = .conflict(message)
        // Time-outs of statements and locks.
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
