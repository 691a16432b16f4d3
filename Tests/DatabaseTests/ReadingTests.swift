import Dispatch
import Foundation
import NIOConcurrencyHelpers
import Testbed
import Testing

@testable import Database

/// Reads of SQLite that wait at the same time share transactions, without a visible difference.
@Suite(.timeLimit(.minutes(30))) struct ReadingTests {
    private static let schema = Schema("numbers", [.init("numbers", ["CREATE TABLE numbers (n BIGINT PRIMARY KEY)"])])

    private struct Refused: Error, Equatable {}

    private func withNumbers(readers: Int, _ body: (Database, _ path: String) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/numbers.sqlite"
            let database = try Database.sqlite(path: path, schema: Self.schema, readers: readers, waiting: .patient)
            try await body(database, path)
            try await database.close()
        }
    }

    private static func newest(_ db: Session) throws -> Int64 {
        try db.value("SELECT MAX(n) FROM numbers", as: Int64?.self).flatMap { $0 } ?? 0
    }

    /// A read sees the commits before it, although other reads keep the connections busy all the time.
    @Test(arguments: [1, 2])
    func aReadSeesWhatWasCommittedBeforeIt(readers: Int) async throws {
        try await withNumbers(readers: readers) { database, _ in
            let isOver = NIOLockedValueBox(false)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<32 {
                    group.addTask {
                        while !isOver.withLockedValue({ $0 }) { _ = try await database.read(Self.newest) }
                    }
                }
                group.addTask {
                    defer { isOver.withLockedValue { $0 = true } }
                    for n in Int64(1)...300 {
                        try await database.write { try $0.run("INSERT INTO numbers VALUES (\(n))") }
                        #expect(try await database.read(Self.newest) == n)
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    /// Reads that waited together see one state, and one that came later sees a later one.
    @Test func readsThatWaitTogetherShareATransaction() async throws {
        try await withNumbers(readers: 1) { database, _ in
            try await database.write { try $0.run("INSERT INTO numbers VALUES (1)") }
            let (begun, go) = (AsyncStream<Void>.makeStream(), DispatchSemaphore(value: 0))
            async let slow = database.read { db in
                begun.continuation.yield()
                go.wait()
                return try Self.newest(db)
            }
            for await _ in begun.stream { break }
            // These find the connection busy. The first of them begins a transaction, and holds it while a commit is made.
            let (held, on) = (AsyncStream<Void>.makeStream(), DispatchSemaphore(value: 0))
            async let first = database.read { db in
                let seen = try Self.newest(db)
                held.continuation.yield()
                on.wait()
                return seen
            }
            while database.waitingCount < 1 { try await Task.sleep(for: .milliseconds(1)) }
            async let second = database.read(Self.newest)
            async let third: Void = database.read { _ in throw Refused() }
            async let fourth = database.read(Self.newest)
            while database.waitingCount < 4 { try await Task.sleep(for: .milliseconds(1)) }
            go.signal()
            #expect(try await slow == 1)
            for await _ in held.stream { break }
            try await database.write { try $0.run("INSERT INTO numbers VALUES (2)") }
            async let later = database.read(Self.newest)
            while database.waitingCount < 4 { try await Task.sleep(for: .milliseconds(1)) }
            on.signal()
            #expect(try await (first, second, fourth) == (1, 1, 1))
            let refusal: (any Error)?
            do { (refusal, _) = (nil, try await third) } catch { refusal = error }
            #expect(refusal is Refused)
            #expect(try await later == 2)
        }
    }

    /// A connection that has nothing to do holds no transaction, which would keep the write-ahead log from beginning again.
    @Test func idleConnectionsHoldNoTransaction() async throws {
        try await withNumbers(readers: 2) { database, path in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for n in Int64(0)..<200 {
                    group.addTask {
                        try await database.write { try $0.run("INSERT INTO numbers VALUES (\(n))") }
                        _ = try await database.read(Self.newest)
                    }
                }
                try await group.waitForAll()
            }
            while database.load.connections.inUse > 0 { try await Task.sleep(for: .milliseconds(1)) }
            try Database.administer(path: path, "PRAGMA wal_checkpoint(TRUNCATE)")
            #expect(database.load.files?.log == 0)
        }
    }
}
