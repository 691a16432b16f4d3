import Backend
import Contract
import ContractServer
import Database
import Foundation
import NIOConcurrencyHelpers
import Testbed
import Testing

/// Writes under an `Idempotency-Key` on SQLite, where many share a transaction.
@Suite(.timeLimit(.minutes(30))) struct IdempotencyStoreTests {
    private static let schema = Schema(
        "keys", [.init("keys", IdempotencyStore.table + ["CREATE TABLE notes (id {ID}, text TEXT NOT NULL)"])])

    private static let start: Int64 = 1_800_000_000_000
    private static let hour: Int64 = 3600 * 1000

    private struct Stored: Codable, Hashable { var id: Int? }

    private static func key(_ number: Int, fingerprint: UInt8 = 1) -> IdempotencyKey {
        IdempotencyKey(scope: "5 POST /notes", text: "key \(number)", fingerprints: [[fingerprint]])
    }

    /// Inserts a note under a key.
    private static func add(
        _ key: IdempotencyKey, to database: Database, at now: Int64 = start, refused: Bool = false,
        _ attempts: NIOLockedValueBox<Int>
    ) async throws -> Answer<Stored> {
        try await database.write(key, errorMessages: ErrorMessages(), at: now) { db in
            attempts.withLockedValue { $0 += 1 }
            if refused { throw Problem(.forbidden, "refused") }
            let id: Int? = try db.insert("INSERT INTO notes (text) VALUES ('x')")
            return Answer(.created, Stored(id: id))
        }
    }

    private func withDatabase(_ body: (Database) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let database = try Database.sqlite(
                path: "\(folder)/keys.sqlite", schema: Self.schema, waiting: .patient)
            try await body(database)
            try await database.close()
        }
    }

    /// A refusal leaves the transaction to the others: every closure runs once.
    @Test func refusedWritesSplitNoTransaction() async throws {
        try await withDatabase { database in
            let attempts = NIOLockedValueBox(0)
            let (begun, hasBegun) = AsyncStream<Void>.makeStream()
            let gate = DispatchSemaphore(value: 0)
            async let first: Void = database.write { _ in
                hasBegun.yield()
                gate.wait()
            }
            for await _ in begun { break }
            let others = (0..<40).map { number in
                Task { () -> Int? in
                    do {
                        return try await Self.add(
                            Self.key(number), to: database, refused: number % 10 == 3, attempts
                        ).status.code
                    } catch let problem as Problem {
                        return problem.status.code
                    }
                }
            }
            // Those that wait share the next transaction.
            while database.load.waiting < 40 { try await Task.sleep(for: .milliseconds(1)) }
            gate.signal()
            try await first
            for (number, other) in others.enumerated() {
                #expect(try await other.value == (number % 10 == 3 ? 403 : 201))
            }
            #expect(attempts.withLockedValue { $0 } == 40)
        }
    }

    /// A refusal is not remembered, an answer is, and another request under its key is refused.
    @Test func anAnswerIsStoredOnce() async throws {
        try await withDatabase { database in
            let attempts = NIOLockedValueBox(0)
            await #expect(throws: Problem.self) {
                _ = try await Self.add(Self.key(1), to: database, refused: true, attempts)
            }
            let answer = try await Self.add(Self.key(1), to: database, attempts)
            let again = try await Self.add(Self.key(1), to: database, attempts)
            #expect(!answer.isReplay && again.isReplay && again.status == answer.status)
            #expect(try again.decoded() == answer.decoded())
            let reused = await #expect(throws: Problem.self) {
                _ = try await Self.add(Self.key(1, fingerprint: 2), to: database, attempts)
            }
            #expect(reused?.status == .unprocessableContent)
            #expect(attempts.withLockedValue { $0 } == 2)
        }
    }

    /// An answer that is too old is replaced, with that of another request, too.
    @Test func aKeyThatIsNotRememberedIsFree() async throws {
        try await withDatabase { database in
            let attempts = NIOLockedValueBox(0)
            let first = try await Self.add(Self.key(1), to: database, attempts).decoded()
            let later = Self.start + 24 * Self.hour
            let second = try await Self.add(Self.key(1, fingerprint: 2), to: database, at: later, attempts)
            #expect(try !second.isReplay && second.decoded() != first)
            let again = try await Self.add(Self.key(1, fingerprint: 2), to: database, at: later, attempts)
            #expect(try again.isReplay && again.decoded() == second.decoded())
        }
    }
}
