import Contract
import ContractServer
import Database
import Foundation
import HTTPTypes
import NIOCore

/// Stores answers to requests with an `Idempotency-Key`, for as long as the route says: a day, or longer for what apps keep
/// until there is a network. An answer is written in the transaction of its write, so that either both are stored or
/// neither.
public enum IdempotencyStore {
    private static let hour: Int64 = 3600 * 1000
    /// The time for which keys are remembered unless their route says more, in milliseconds.
    private static let lifetime = 24 * hour

    /// The statements that create the table, for an API's schema.
    public static let table = [
        """
        CREATE TABLE once_only (
            scope {KEY} NOT NULL, key {KEY} NOT NULL, fingerprint {BYTES} NOT NULL, status INTEGER NOT NULL,
            body {BYTES} NOT NULL, created_at BIGINT NOT NULL, PRIMARY KEY (scope, key))
        """,
        "CREATE INDEX once_only_age ON once_only (created_at)",
    ]

    /// The statements that create the table of the accounts that answers to others mention, so that those answers are
    /// deleted with the accounts. It is for APIs whose accounts can be deleted.
    public static let subjects = [
        """
        CREATE TABLE once_only_subjects (
            subject {KEY} NOT NULL, scope {KEY} NOT NULL, key {KEY} NOT NULL, created_at BIGINT NOT NULL,
            PRIMARY KEY (subject, scope, key))
        """,
        "CREATE INDEX once_only_subjects_age ON once_only_subjects (created_at)",
    ]

    /// The times of ``table``.
    public static let times = [StoredTime("once_only", "created_at")]
    /// The times of ``subjects``.
    public static let timesOfSubjects = [StoredTime("once_only_subjects", "created_at")]

    /// The row of a key. A claim has status 0 until its write is done.
    private struct Record {
        var fingerprint: [UInt8]
        var status: Int
        var body: [UInt8]

        init(row: borrowing Row) throws {
            (fingerprint, status, body) = try (row.get(0), row.get(1), row.get(2))
        }

        /// - Throws: A `Problem` with 422 when the key was used for another request.
        func answer<Output>(to key: IdempotencyKey, errorMessages: ErrorMessages) throws -> Answer<Output> {
            guard key.matches(fingerprint) else {
                throw Problem(
                    .unprocessableContent, errorMessages.reusedIdempotencyKey, code: .reusedIdempotencyKey)
            }
            return Answer(.init(code: status), encoded: body, headers: [.idempotentReplayed: "true"])
        }
    }

    /// Returns the stored answer.
    ///
    /// - Throws: A `Problem` with 422 when the key was used for another request.
    static func replay<Output>(
        _ key: IdempotencyKey, errorMessages: ErrorMessages, at now: Int64, in db: Session
    ) throws -> Answer<Output>? {
        let record = try db.one(
            """
            SELECT fingerprint, status, body FROM once_only
            WHERE scope = \(key.scope) AND key = \(key.text) AND created_at > \(now - Int64(key.hours) * hour)
            """, Record.init(row:))
        return try record?.answer(to: key, errorMessages: errorMessages)
    }

    /// Begins a write under a key. In the only transaction that writes (``Session/isOnlyWriter``), it looks for an answer, so
    /// that a write that is refused has changed nothing. Beside others it claims the key for this transaction: a concurrent repeat
    /// waits here until the first request is done.
    ///
    /// - Returns: Nil when the write is to be made, else the stored answer.
    /// - Throws: A `Problem` with 422 when the key was used for another request.
    static func begin<Output>(
        _ key: IdempotencyKey, errorMessages: ErrorMessages, at now: Int64, in db: Session
    ) throws -> Answer<Output>? {
        db.isOnlyWriter
            ? try replay(key, errorMessages: errorMessages, at: now, in: db)
            : try claim(key, errorMessages: errorMessages, at: now, in: db)
    }

    /// Claims a key for this transaction.
    ///
    /// - Returns: Nil when the key is claimed, else the stored answer.
    /// - Throws: A `Problem` with 422 when the key was used for another request.
    private static func claim<Output>(
        _ key: IdempotencyKey, errorMessages: ErrorMessages, at now: Int64, in db: Session
    ) throws -> Answer<Output>? {
        try db.run(
            """
            DELETE FROM once_only
            WHERE scope = \(key.scope) AND key = \(key.text) AND created_at <= \(now - Int64(key.hours) * hour)
            """)
        let isNew =
            try db.run(
                """
                INSERT INTO once_only (scope, key, fingerprint, status, body, created_at)
                VALUES (\(key.scope), \(key.text), \(key.fingerprint), 0, \([UInt8]()), \(now))
                ON CONFLICT (scope, key) DO NOTHING
                """) == 1
        return isNew ? nil : try replay(key, errorMessages: errorMessages, at: now, in: db)
    }

    /// Stores the answer to a write that ``begin(_:errorMessages:at:in:)`` has begun.
    static func remember(
        _ key: IdempotencyKey, status: Int, body: [UInt8], at now: Int64, in db: Session
    ) throws {
        if db.isOnlyWriter {
            // A row that is there is older than keys are remembered.
            try db.run(
                """
                INSERT OR REPLACE INTO once_only (scope, key, fingerprint, status, body, created_at)
                VALUES (\(key.scope), \(key.text), \(key.fingerprint), \(status), \(body), \(now))
                """)
        } else {
            try db.run(
                """
                UPDATE once_only SET status = \(status), body = \(body)
                WHERE scope = \(key.scope) AND key = \(key.text)
                """)
        }
    }

    /// Records that an answer mentions accounts other than its caller's, so that it is deleted with any of them. A
    /// sign-up has no caller yet, and its answer mentions the account that it creates.
    ///
    /// - Parameters:
    ///   - key: The key of the write that this is part of; nil when the client sent none.
    ///   - names: The callers' names, as the API's routes define them.
    public static func note(_ key: IdempotencyKey?, about names: [String], at now: Int64, in db: Session) throws {
        guard let key else { return }
        for name in names {
            try db.run(
                """
                INSERT INTO once_only_subjects (subject, scope, key, created_at)
                VALUES (\(name), \(key.scope), \(key.text), \(now))
                ON CONFLICT (subject, scope, key) DO UPDATE SET created_at = excluded.created_at
                """)
        }
    }

    /// Deletes every answer that mentions an account, and those to its own requests, when the account is deleted.
    ///
    /// - Parameter name: The caller's name, as the API's routes define it.
    public static func forget(subject name: String, in db: Session) throws {
        let answers: [(scope: String, key: String)] = try db.all(
            "DELETE FROM once_only_subjects WHERE subject = \(name) RETURNING scope, key"
        ) { (try $0.get(0), try $0.get(1)) }
        for answer in answers {
            try db.run("DELETE FROM once_only WHERE scope = \(answer.scope) AND key = \(answer.key)")
        }
        try forget(callersNamed: name, in: db)
    }

    /// Deletes the answers to a caller whose account is deleted.
    ///
    /// - Parameter name: The caller's name, as the API's routes define it.
    public static func forget(callersNamed name: String, in db: Session) throws {
        // Scopes are `<name> <method> <path>`.
        for method in ["POST", "PUT", "PATCH", "DELETE"] {
            // "0" is the next ASCII character after the slash.
            let (first, end) = ("\(name) \(method) /", "\(name) \(method) 0")
            try db.run("DELETE FROM once_only WHERE scope >= \(first) AND scope < \(end)")
        }
    }

    /// Deletes answers whose keys are not remembered any more.
    ///
    /// - Parameter longer: The routes whose keys are remembered for longer than a day. Their paths have no captures.
    public static func sweep(at now: Int64, keeping longer: [Route] = [], in db: Session) throws {
        var expired: SQL = "created_at <= \(now - lifetime)"
        for route in longer {
            // A scope is `<name> <method> <path>`, and the path may have a base before that of the route.
            let scope = "% \(route.method.rawValue) %\(route.path)"
            expired = "\(expired) AND (created_at <= \(now - Int64(route.keyHours) * hour) OR scope NOT LIKE \(scope))"
        }
        try db.run("DELETE FROM once_only WHERE \(expired)")
    }

    /// Deletes the rows of ``subjects`` that are older than a day.
    public static func sweepSubjects(at now: Int64, in db: Session) throws {
        try db.run("DELETE FROM once_only_subjects WHERE created_at <= \(now - lifetime)")
    }
}

extension Database {
    /// Runs a write once per key. A repeat gets the first answer, byte for byte, and changes nothing.
    ///
    /// - Parameter key: The key; nil when the client sent none, which makes this a plain write.
    /// - Throws: A `Problem` with 422 when the key was used for another request.
    public func write<Output: Encodable & Sendable>(
        _ key: IdempotencyKey?, errorMessages: @autoclosure () -> ErrorMessages, at now: Int64,
        _ body: @escaping @Sendable (Session) throws -> Answer<Output>
    ) async throws -> Answer<Output> {
        guard let key else { return try await write(body) }
        let errorMessages = errorMessages()
        let attempt = { @Sendable (db: Session) throws -> Answer<Output> in
            let replay: Answer<Output>? =
                try IdempotencyStore.begin(key, errorMessages: errorMessages, at: now, in: db)
            if let replay { return replay }
            let answer = try body(db)
            guard case .output(let output) = answer.content else { return answer }
            let encoded = Output.self == Empty.self ? [] : Array(try JSONBody.encode(output).readableBytesView)
            try IdempotencyStore.remember(key, status: answer.status.code, body: encoded, at: now, in: db)
            return Answer(answer.status, encoded: encoded, headers: answer.headers)
        }
        do {
            return try await write(attempt)
        } catch DatabaseFailure.unknownOutcome {
            // Whether the write was committed is decided by the row of the key.
            return try await write(attempt)
        }
    }

    /// Returns the stored answer under a key, if there is one. It should be called before work that a repeat would
    /// waste.
    public func replay<Output: Sendable>(
        _ key: IdempotencyKey?, errorMessages: ErrorMessages, at now: Int64, as _: Output.Type = Output.self
    ) async throws -> Answer<Output>? {
        guard let key else { return nil }
        return try await read { try IdempotencyStore.replay(key, errorMessages: errorMessages, at: now, in: $0) }
    }
}

extension Answer where Output: Decodable {
    /// Returns the answer's value, as it was made or as it was stored.
    public func decoded() throws -> Output {
        switch content {
        case .output(let output): output
        case .encoded(let bytes): try JSONDecoder().decode(Output.self, from: Data(bytes))
        }
    }
}

extension Answer {
    /// Whether this is a stored answer to an earlier request with the same idempotency key.
    public var isReplay: Bool { headers[.idempotentReplayed] != nil }
}
