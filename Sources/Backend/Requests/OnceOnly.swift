import Contract
import ContractServer
import Database
import Foundation
import HTTPTypes
import NIOCore

/// Answers that were given under an `Idempotency-Key`, kept for a day, in the database and the transaction of the
/// write they answer: either both are there or neither.
public enum OnceOnly {
    static let lifetime: Int64 = 24 * 3600 * 1000

    /// The table, for each API's schema.
    public static let table = [
        """
        CREATE TABLE once_only (
            scope {KEY} NOT NULL, key {KEY} NOT NULL, fingerprint {BYTES} NOT NULL, status INTEGER NOT NULL,
            body {BYTES} NOT NULL, created_at BIGINT NOT NULL, PRIMARY KEY (scope, key))
        """,
        "CREATE INDEX once_only_age ON once_only (created_at)",
    ]

    /// Who is spoken of in answers to others, which go when they do. For APIs whose accounts can be deleted.
    public static let subjects = [
        """
        CREATE TABLE once_only_subjects (
            subject {KEY} NOT NULL, scope {KEY} NOT NULL, key {KEY} NOT NULL, created_at BIGINT NOT NULL,
            PRIMARY KEY (subject, scope, key))
        """,
        "CREATE INDEX once_only_subjects_age ON once_only_subjects (created_at)",
    ]

    /// What is kept under a key. Until its write is done, a claim has status 0.
    private struct Record {
        var fingerprint: [UInt8]
        var status: Int
        var body: [UInt8]

        init(row: borrowing Row) throws {
            (fingerprint, status, body) = try (row.get(0), row.get(1), row.get(2))
        }

        /// - Throws: 422 when the key was used for another request.
        func answer<Output>(to once: Once, phrases: Phrases) throws -> Answer<Output> {
            guard fingerprint == once.fingerprint else {
                throw Problem(
                    .unprocessableContent, phrases.reusedIdempotencyKey, code: .reusedIdempotencyKey)
            }
            return Answer(.init(code: status), encoded: body, headers: [.idempotentReplayed: "true"])
        }
    }

    /// The answer given before.
    ///
    /// - Throws: 422 when the key was used for another request.
    static func replay<Output>(
        _ once: Once, phrases: Phrases, at now: Int64, in db: Session
    ) throws -> Answer<Output>? {
        let record = try db.one(
            """
            SELECT fingerprint, status, body FROM once_only
            WHERE scope = \(once.scope) AND key = \(once.key) AND created_at > \(now - lifetime)
            """, Record.init(row:))
        return try record?.answer(to: once, phrases: phrases)
    }

    /// Claims a key for this transaction. A repeat that comes meanwhile waits here until the first is done.
    ///
    /// - Returns: nil when the key is claimed, else the answer given before.
    /// - Throws: 422 when the key was used for another request.
    static func claim<Output>(
        _ once: Once, phrases: Phrases, at now: Int64, in db: Session
    ) throws -> Answer<Output>? {
        try db.run(
            "DELETE FROM once_only WHERE scope = \(once.scope) AND key = \(once.key) AND created_at <= \(now - lifetime)"
        )
        let isNew = try db.exists(
            """
            INSERT INTO once_only (scope, key, fingerprint, status, body, created_at)
            VALUES (\(once.scope), \(once.key), \(once.fingerprint), 0, \([UInt8]()), \(now))
            ON CONFLICT (scope, key) DO NOTHING RETURNING 1
            """)
        return isNew ? nil : try replay(once, phrases: phrases, at: now, in: db)
    }

    static func remember(_ once: Once, status: Int, body: [UInt8], in db: Session) throws {
        try db.run(
            """
            UPDATE once_only SET status = \(status), body = \(body) WHERE scope = \(once.scope) AND key = \(once.key)
            """)
    }

    /// Notes that an answer, which is about to be given, speaks of people other than its caller: it goes with any of their
    /// accounts. A registration has no caller yet, and speaks of the account that it made.
    ///
    /// - Parameters:
    ///   - once: Of the write that this is part of; nil when the client sent no key.
    ///   - names: As the API's routes tell callers apart.
    public static func note(_ once: Once?, about names: [String], at now: Int64, in db: Session) throws {
        guard let once else { return }
        for name in names {
            try db.run(
                """
                INSERT INTO once_only_subjects (subject, scope, key, created_at)
                VALUES (\(name), \(once.scope), \(once.key), \(now))
                ON CONFLICT (subject, scope, key) DO UPDATE SET created_at = excluded.created_at
                """)
        }
    }

    /// Forgets every answer that speaks of somebody whose account ends, and those to themselves.
    ///
    /// - Parameter name: As the API's routes tell callers apart.
    public static func forget(subject name: String, in db: Session) throws {
        let answers: [(scope: String, key: String)] = try db.all(
            "DELETE FROM once_only_subjects WHERE subject = \(name) RETURNING scope, key"
        ) { (try $0.get(0), try $0.get(1)) }
        for answer in answers {
            try db.run("DELETE FROM once_only WHERE scope = \(answer.scope) AND key = \(answer.key)")
        }
        try forget(callersNamed: name, in: db)
    }

    /// Forgets what was answered to a caller whose account ends.
    ///
    /// - Parameter name: As the API's routes tell callers apart.
    public static func forget(callersNamed name: String, in db: Session) throws {
        // Scopes are `<name> <method> <path>`.
        for method in ["POST", "PUT", "PATCH", "DELETE"] {
            // Up to the character behind the slash.
            let (first, end) = ("\(name) \(method) /", "\(name) \(method) 0")
            try db.run("DELETE FROM once_only WHERE scope >= \(first) AND scope < \(end)")
        }
    }

    /// Forgets what is older than a day.
    public static func sweep(at now: Int64, in db: Session) throws {
        try db.run("DELETE FROM once_only WHERE created_at <= \(now - lifetime)")
    }

    /// The same for APIs with ``subjects``.
    public static func sweepSubjects(at now: Int64, in db: Session) throws {
        try db.run("DELETE FROM once_only_subjects WHERE created_at <= \(now - lifetime)")
    }
}

extension Database {
    /// Writes once per key: a repeat gets the first answer, byte for byte, and changes nothing.
    ///
    /// - Parameter once: Nil when the client sent no key; then this is a plain write.
    /// - Throws: 422 when the key was used for another request.
    public func write<Output: Encodable & Sendable>(
        _ once: Once?, phrases: Phrases, at now: Int64,
        _ body: @escaping @Sendable (Session) throws -> Answer<Output>
    ) async throws -> Answer<Output> {
        guard let once else { return try await write(body) }
        let attempt = { @Sendable (db: Session) throws -> Answer<Output> in
            if let replay: Answer<Output> = try OnceOnly.claim(once, phrases: phrases, at: now, in: db) {
                return replay
            }
            let answer = try body(db)
            guard case .output(let output) = answer.content else { return answer }
            let encoded = Array(try JSONBody.encode(output).readableBytesView)
            try OnceOnly.remember(once, status: answer.status.code, body: encoded, in: db)
            return Answer(answer.status, encoded: encoded, headers: answer.headers)
        }
        do {
            return try await write(attempt)
        } catch DatabaseFailure.unknownOutcome {
            // Whether it was written is not guessed: the record under the key knows.
            return try await write(attempt)
        }
    }

    /// The answer given under a key, when there is one: for work that is worth sparing before the write.
    public func replay<Output: Sendable>(
        _ once: Once?, phrases: Phrases, at now: Int64, as _: Output.Type = Output.self
    ) async throws -> Answer<Output>? {
        guard let once else { return nil }
        return try await read { try OnceOnly.replay(once, phrases: phrases, at: now, in: $0) }
    }
}

extension Answer where Output: Decodable {
    /// Returns what is answered: as it was made just now, or as it was kept.
    public func decoded() throws -> Output {
        switch content {
        case .output(let output): output
        case .encoded(let bytes): try JSONDecoder().decode(Output.self, from: Data(bytes))
        }
    }
}
