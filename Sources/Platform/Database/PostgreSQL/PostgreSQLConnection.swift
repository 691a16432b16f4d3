import CLibPQ
import Foundation
import NIOConcurrencyHelpers

/// A blocking connection to PostgreSQL through libpq, used by one thread at a time.
final class PostgreSQLConnection: SessionConnection {
    private let handle: OpaquePointer
    /// The server's process that runs the current transaction, or the last one.
    private(set) var serverProcess: ServerProcess
    /// The statement that begins each transaction of a pooled connection with what others set once; nil for other connections.
    private let settings: SQL?
    var dialect: Dialect { .postgreSQL }
    /// The names of statements that the server has prepared; on a pooled connection, the statements as
    /// PostgreSQL writes them.
    private var names: [StatementShape: String] = [:]
    /// The statements that begin the transaction, until they are sent along with its first one.
    private var opening: [SQL] = []
    /// Whether the transaction only reads.
    private var isReading = false
    /// Whether the transaction was ended along with its last statement.
    private var hasEnded = false
    /// Whether the end of a transaction was sent and its answer has not been read.
    private var hasUnreadResult = false
    /// Whether the state of the protocol is unknown, so that the connection must not be used again.
    private var isInDoubt = false
    /// The time since which the server's answer is awaited. Other threads read it.
    private let askedAt = NIOLockedValueBox<ContinuousClock.Instant?>(nil)

    /// Connects to the server.
    ///
    /// - Parameters:
    ///   - url: A URL such as `postgres://user@host/database`, with any parameter that libpq knows.
    ///   - namespace: The schema of unqualified names.
    ///   - name: The name by which the server lists the connection.
    ///   - isPatient: Whether statements and transactions may take any time, as those of backups and moves do.
    ///   - isPooled: Whether the URL is that of a pooler that gives each transaction another of the server's processes.
    ///     Nothing then belongs to the connection: neither settings nor prepared statements nor a name.
    /// - Throws: ``DatabaseFailure``, ``UnsuitableEncoding``.
    init(
        url: String, namespace: String, name: String = "concord", isPatient: Bool = false, isPooled: Bool = false
    ) throws {
        let fixed = PostgreSQLSettings(namespace: namespace, isPatient: isPatient)
        var parameters = [
            ("dbname", url), ("connect_timeout", "5"), ("application_name", isPooled ? "pooled concord" : name),
            ("client_encoding", "UTF8"), ("keepalives_idle", "15"), ("keepalives_interval", "5"),
            ("keepalives_count", "3"), ("tcp_user_timeout", "20000"),
        ]
        if !isPooled { parameters.append(("options", fixed.options)) }
        let handle = Self.withCStrings(parameters.map(\.0)) { names in
            Self.withCStrings(parameters.map(\.1)) { values in PQconnectdbParams(names, values, 1) }
        }
        guard let handle else { throw DatabaseFailure.unavailable("out of memory") }
        guard PQstatus(handle) == CONNECTION_OK else {
            // `deinit` does not run, because the object is not fully initialised.
            let reason = String(cString: PQerrorMessage(handle)).trimmingCharacters(in: .whitespacesAndNewlines)
            PQfinish(handle)
            throw DatabaseFailure.unavailable(reason)
        }
        if let error = UnsuitableEncoding(handle) {
            PQfinish(handle)
            throw error
        }
        // By default libpq writes the server's notices to standard error.
        PQsetNoticeProcessor(handle, { _, _ in }, nil)
        self.handle = handle
        serverProcess = ServerProcess(id: Int(PQbackendPID(handle)), transaction: nil)
        let columns = fixed.columns(isLocal: isPooled, version: PQserverVersion(handle))
        guard isPooled else {
            settings = nil
            try simple("SELECT \(columns)")
            return
        }
        settings = SQL(
            trusted: "SELECT pg_backend_pid(), CAST(extract(epoch FROM now()) AS TEXT), \(columns)")
    }

    deinit { PQfinish(handle) }

    /// Whether the server has closed the connection, which then cannot be used any more.
    var isBroken: Bool { isInDoubt || PQstatus(handle) != CONNECTION_OK }
    /// Whether the connection can be used for another transaction.
    var isIdle: Bool { !isBroken && (hasUnreadResult || PQtransactionStatus(handle) == PQTRANS_IDLE) }
    var socket: Int32 { PQsocket(handle) }

    /// Whether the server has sent something on an idle connection, which usually means that it closes it.
    var isStale: Bool {
        do { try drain() } catch { return true }
        var descriptor = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return isBroken || poll(&descriptor, 1, 0) != 0
    }

    /// Marks the connection as unusable.
    func discard() { isInDoubt = true }

    /// Runs a text without parameters, such as `LISTEN` or `CREATE SCHEMA`.
    func simple(_ text: String) throws {
        _ = try PostgreSQLResult(ask { PQexec(handle, text) }, of: self)
    }

    // MARK: Calls from other threads

    /// The time for which the server's answer has been awaited.
    var silence: Duration { askedAt.withLockedValue { $0?.duration(to: .now) ?? .zero } }

    /// Shuts the socket down, which ends a wait for the server's answer.
    func cut() { shutdown(socket, Int32(SHUT_RDWR)) }

    private func ask<T>(_ body: () throws -> T) rethrows -> T {
        askedAt.withLockedValue { $0 = .now }
        defer { askedAt.withLockedValue { $0 = nil } }
        return try body()
    }

    // MARK: Transactions

    /// Begins a transaction. The statement is sent along with the first one.
    func begin(_ statement: SQL, reading isReading: Bool = false) throws {
        opening = []
        self.isReading = isReading
        hasEnded = false
        try drain()
        opening = [statement] + [settings].compactMap(\.self)
    }

    /// Commits.
    ///
    /// - Throws: ``DatabaseFailure/unknownOutcome(_:)`` when the connection is lost in the meantime.
    func commit() throws {
        guard opening.isEmpty, !hasEnded else {
            opening = []
            return
        }
        _ = try commit(after: [])
    }

    /// Runs the last statements of a transaction, and commits.
    private func commit(after statements: [SQL]) throws -> [PostgreSQLResult] {
        // What commits must be known in case its answer is lost.
        if settings != nil, !opening.isEmpty { _ = try run([]) }
        let all = try (opening + statements).map(prepared) + [.bare("COMMIT")]
        let skipped = opening.count
        opening = []
        do {
            let results = try exchange(all)
            // The server reports no error when it rolls back a transaction in which a statement failed.
            guard results.last?.tag == "COMMIT" else {
                throw DatabaseFailure.failed("not committed: a statement had failed, and the closure went on")
            }
            hasEnded = true
            return Array(results.dropFirst(skipped))
        } catch DatabaseFailure.unavailable(let reason) where isBroken {
            throw DatabaseFailure.unknownOutcome(reason)
        }
    }

    /// Runs the last statements of a transaction that only reads, and ends it.
    private func endReading(after statements: [SQL]) throws -> [PostgreSQLResult] {
        // A statement alone reads one state without a transaction around it.
        let isAlone = statements.count == 1 && opening.count == 1
        let (before, after): ([SQL], [PostgreSQLStatement]) = isAlone ? ([], []) : (opening, [.bare("COMMIT")])
        let all = try (before + statements).map(prepared) + after
        opening = []
        hasEnded = true
        return Array(try exchange(all).dropFirst(before.count))
    }

    /// Ends a transaction that only read.
    func endReading() { end("COMMIT") }

    func rollBack() { end("ROLLBACK") }

    /// Sends the end of a transaction without waiting for the answer, which the next transaction reads.
    private func end(_ text: String) {
        if !opening.isEmpty {
            opening = []
            return
        }
        guard !isBroken, PQtransactionStatus(handle) != PQTRANS_IDLE else { return }
        hasUnreadResult = PQsendQuery(handle, text) == 1
    }

    private func drain() throws {
        guard hasUnreadResult else { return }
        hasUnreadResult = false
        ask { while let result = PQgetResult(handle) { PQclear(result) } }
        if PQtransactionStatus(handle) != PQTRANS_IDLE { isInDoubt = true }
        if isBroken { throw DatabaseFailure.unavailable(errorMessage) }
    }

    // MARK: Statements

    func query(_ sql: SQL, _ each: (borrowing Row) throws -> Bool) throws {
        try run([sql])[0].rows(each)
    }

    func query(
        _ first: SQL, _ eachOfFirst: (borrowing Row) throws -> Bool, _ second: SQL,
        _ eachOfSecond: (borrowing Row) throws -> Bool
    ) throws {
        let results = try run([first, second])
        try results[0].rows(eachOfFirst)
        try results[1].rows(eachOfSecond)
    }

    func queryLast(_ sql: SQL, _ each: (borrowing Row) throws -> Bool) throws {
        try runLast([sql])[0].rows(each)
    }

    func queryLast(
        _ first: SQL, _ eachOfFirst: (borrowing Row) throws -> Bool, _ second: SQL,
        _ eachOfSecond: (borrowing Row) throws -> Bool
    ) throws {
        let results = try runLast([first, second])
        try results[0].rows(eachOfFirst)
        try results[1].rows(eachOfSecond)
    }

    private func runLast(_ statements: [SQL]) throws -> [PostgreSQLResult] {
        isReading ? try endReading(after: statements) : try commit(after: statements)
    }

    func execute(_ sql: SQL) throws -> Int { try run([sql])[0].changes }

    func insert(_ sql: SQL) throws -> Int64? { try Session(self).value("\(sql) RETURNING id") }

    func update(
        _ table: SQL, set changes: SQL, where key: SQL, if condition: SQL?, returning columns: SQL,
        _ body: (borrowing Row) throws -> Void
    ) throws {
        let both: SQL = condition.map { "\(key) AND \($0)" } ?? key
        try query("UPDATE \(table) SET \(changes) WHERE \(both) RETURNING \(columns)") { row in
            try body(row)
            return false
        }
    }

    func plan(of sql: SQL) throws -> [String] {
        var lines: [String] = []
        try query("EXPLAIN \(sql)") { row in
            lines.append(try row.get(0))
            return true
        }
        return lines
    }

    /// Runs statements, preceded by the one that begins the transaction if it has not been sent yet.
    private func run(_ statements: [SQL]) throws -> [PostgreSQLResult] {
        guard !hasEnded else { throw DatabaseFailure.failed("a statement follows the last one of its transaction") }
        guard !opening.isEmpty else { return try exchange(statements.map(prepared)) }
        let (all, skipped) = (try (opening + statements).map(prepared), opening.count)
        opening = []
        let results = try exchange(all)
        if settings != nil { try noteProcess(results[1]) }
        return Array(results.dropFirst(skipped))
    }

    /// Notes which of the server's processes a pooler has given to the transaction.
    private func noteProcess(_ result: PostgreSQLResult) throws {
        try result.rows { row in
            serverProcess = ServerProcess(id: try row.get(0), transaction: try row.get(1, as: String.self))
            return false
        }
    }

    /// Returns whether one of the server's processes still runs the transaction during which its connection was lost.
    func isBusy(_ process: ServerProcess) throws -> Bool {
        var isBusy = false
        let begun: SQL = process.transaction.map { " AND CAST(extract(epoch FROM xact_start) AS TEXT) = \($0)" } ?? ""
        try query("SELECT 1 FROM pg_stat_activity WHERE pid = \(process.id) AND state <> 'idle'\(begun)") { _ in
            isBusy = true
            return false
        }
        return isBusy
    }

    /// Sends statements together and waits for all answers, in one round trip. After a failed statement the rest are
    /// not run.
    private func exchange(_ statements: [PostgreSQLStatement]) throws -> [PostgreSQLResult] {
        try ask { try converse(statements) }
    }

    private func converse(_ statements: [PostgreSQLStatement]) throws -> [PostgreSQLResult] {
        if statements.count == 1 {
            return [try PostgreSQLResult(statements[0].execute(on: handle), of: self)]
        }
        var isSent = PQenterPipelineMode(handle) == 1
        for statement in statements {
            isSent = isSent && statement.send(on: handle)
        }
        guard isSent, PQpipelineSync(handle) == 1 else {
            isInDoubt = true
            throw DatabaseFailure.unavailable(errorMessage)
        }
        let results = statements.map { _ in
            let result = Result { try PostgreSQLResult(PQgetResult(handle), of: self) }
            // This reads the end of a statement's results.
            PQclear(PQgetResult(handle))
            return result
        }
        // This reads the end of all results.
        PQclear(PQgetResult(handle))
        if PQexitPipelineMode(handle) != 1 { isInDoubt = true }
        return try results.map { try $0.get() }
    }

    private func prepared(_ sql: SQL) throws -> PostgreSQLStatement {
        settings == nil ? .prepared(try prepare(sql), sql.values) : .unprepared(numbered(sql), sql.values)
    }

    private func numbered(_ sql: SQL) -> String {
        let shape = StatementShape(of: sql)
        if let known = names[shape] { return known }
        let result = Self.numbered(sql.text)
        names[shape.withoutValues] = result
        return result
    }

    private func prepare(_ sql: SQL) throws -> String {
        let shape = StatementShape(of: sql)
        if let name = names[shape] { return name }
        let name = "s\(names.count)"
        _ = try PostgreSQLResult(ask { PQprepare(handle, name, Self.numbered(sql.text), 0, nil) }, of: self)
        names[shape.withoutValues] = name
        return name
    }

    /// Replaces each `?` outside of quotes by `$1`, `$2` and so on.
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

    /// Sends notifications, in order and in one round trip.
    func notify(_ notifications: [(channel: String, text: String)]) throws {
        _ = try exchange(notifications.map { try prepared("SELECT pg_notify(\($0.channel), \($0.text))") })
    }

    /// Returns the received notifications, after waiting for them for at most the given time.
    func notifications(waitingMilliseconds timeout: Int32) throws -> [String] {
        // Notifications that arrived with the answer to a statement have been read already; the socket would not report
        // them.
        let known = takeNotifications()
        guard known.isEmpty else { return known }
        var descriptor = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        _ = poll(&descriptor, 1, timeout)
        guard PQconsumeInput(handle) == 1 else { throw DatabaseFailure.unavailable(errorMessage) }
        return takeNotifications()
    }

    private func takeNotifications() -> [String] {
        var payloads: [String] = []
        while let notification = PQnotifies(handle) {
            payloads.append(String(cString: notification.pointee.extra))
            PQfreemem(notification)
        }
        return payloads
    }

    var errorMessage: String {
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
