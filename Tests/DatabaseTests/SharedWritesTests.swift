import Foundation
import NIOConcurrencyHelpers
import Testbed
import Testing

@testable import Database

/// Writes that wait at the same time are made by one transaction, and each has its own answer.
@Suite(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"), .timeLimit(.minutes(30)))
struct SharedWritesTests {
    private static let schema = Schema(
        "numbers",
        [
            .init(
                "numbers",
                ["CREATE TABLE numbers (n BIGINT PRIMARY KEY)", "CREATE TABLE locks (name TEXT PRIMARY KEY)"])
        ])

    /// Writes that add numbers. Negative ones are left out, and zero fails. From 1,000 on, the transaction waits for a lock
    /// that a test may hold.
    private struct Adding {
        let database: Database
        let writes: SharedWrites<Int, Int>
        /// The sizes of the transactions that were begun.
        let sizes = NIOLockedValueBox<[Int]>([])
        let published = NIOLockedValueBox<Set<Int>>([])

        init(to database: Database) throws {
            self.database = database
            let body: SharedWrites<Int, Int>.Body = { [sizes, published] numbers, db in
                sizes.withLockedValue { $0.append(numbers.count) }
                if numbers.contains(where: { $0 >= 1000 }) { try db.lock("locks", where: "name = 'one'") }
                for number in numbers where number >= 0 {
                    try db.run("INSERT INTO numbers VALUES (1000 / \(number) * 0 + \(number))")
                    db.afterCommit { published.withLockedValue { _ = $0.insert(number) } }
                }
                _ = try db.finish(Query<[Int]>.all("SELECT 1") { try $0.get(0) })
                return numbers.map { $0 >= 0 ? $0 : nil }
            }
            writes = try #require(database.sharing(body))
        }

        /// Makes a write; nil when it was left out.
        func add(_ number: Int) async throws -> Int? { try await database.write(number, with: writes) }

        var stored: Set<Int> {
            get async throws { Set(try await database.read { try $0.all("SELECT n FROM numbers") { try $0.get(0) } }) }
        }
    }

    private func withWrites(_ body: (Adding, TestDatabase) async throws -> Void) async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            let database = try place.open(Self.schema)
            try await database.write { try $0.run("INSERT INTO locks VALUES ('one'), ('two')") }
            try await body(Adding(to: database), place)
            try await database.close()
        }
    }

    /// Runs a closure while another node holds the lock for which the transaction of the number 1 waits.
    private func withLock(in place: TestDatabase, _ body: @escaping @Sendable () async throws -> Void) async throws {
        let other = try place.open(Self.schema)
        let (locked, lock) = AsyncStream<Void>.makeStream()
        let release = DispatchSemaphore(value: 0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await other.write { db in
                    try db.lock("locks", where: "name = 'one'")
                    lock.finish()
                    release.wait()
                }
            }
            for await _ in locked {}
            let result: Result<Void, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            release.signal()
            try await group.waitForAll()
            try result.get()
        }
        try await other.close()
    }

    @Test func waitingWritesAreMadeByFewTransactions() async throws {
        try await withWrites { adding, _ in
            let outputs = try await withThrowingTaskGroup(of: Int?.self) { group in
                for number in 1...500 { group.addTask { try await adding.add(number % 10 == 0 ? -number : number) } }
                return try await group.reduce(into: [Int?]()) { $0.append($1) }
            }
            let expected = Set((1...500).filter { $0 % 10 != 0 })
            #expect(outputs.count { $0 == nil } == 50)
            #expect(Set(outputs.compactMap(\.self)) == expected)
            #expect(try await adding.stored == expected)
            #expect(expected.isSubset(of: adding.published.withLockedValue { $0 }))
            let sizes = adding.sizes.withLockedValue { $0 }
            #expect(sizes.reduce(0, +) == 500)
            #expect(sizes.max() ?? 0 > 1 && sizes.allSatisfy { $0 <= 64 })
        }
    }

    /// A write that fails undoes those of its transaction, which their callers then make alone.
    @Test func aFailureLeavesAllOfATransactionToTheirCallers() async throws {
        try await withWrites { adding, place in
            let tasks = NIOLockedValueBox<[Task<Int?, any Error>]>([])
            try await withLock(in: place) {
                // There are no more transactions at the same time.
                for number in 1000..<1003 {
                    tasks.withLockedValue { $0.append(Task { try await adding.add(number) }) }
                    while adding.sizes.withLockedValue({ $0.count }) < number - 999 {
                        try await Task.sleep(for: .milliseconds(1))
                    }
                }
                for number in [2, 0, 3] { tasks.withLockedValue { $0.append(Task { try await adding.add(number) }) } }
                while adding.database.waitingCount < 3 { try await Task.sleep(for: .milliseconds(1)) }
            }
            var outputs: [Int?] = []
            for task in tasks.withLockedValue({ $0 }) { outputs.append(try await task.value) }
            #expect(outputs == [1000, 1001, 1002, nil, nil, nil])
            #expect(adding.sizes.withLockedValue { $0 } == [1, 1, 1, 3])
            #expect(try await adding.stored == [1000, 1001, 1002])
            #expect(adding.published.withLockedValue { $0 } == [1000, 1001, 1002])
            #expect(try await adding.add(4) == 4)
        }
    }

    /// A transaction that waits for a lock delays only its own writes.
    @Test func otherWritesDoNotWaitForALock() async throws {
        try await withWrites { adding, place in
            let first = NIOLockedValueBox<Task<Int?, any Error>?>(nil)
            try await withLock(in: place) {
                first.withLockedValue { $0 = Task { try await adding.add(1000) } }
                while adding.sizes.withLockedValue({ $0.isEmpty }) { try await Task.sleep(for: .milliseconds(1)) }
                for number in 2...20 { #expect(try await adding.add(number) == number) }
                #expect(try await adding.stored == Set(2...20))
            }
            // On a busy machine the others may take longer than a transaction waits for a lock. Then it is left out.
            let waited = try #require(try await first.withLockedValue { $0 }?.value ?? .some(nil))
            #expect([1000, nil].contains(waited))
        }
    }

    /// A caller that is cancelled while it waits has written nothing.
    @Test func aWriteThatIsCancelledIsNotMade() async throws {
        try await withWrites { adding, place in
            let tasks = NIOLockedValueBox<[Task<Int?, any Error>]>([])
            try await withLock(in: place) {
                for number in 1000..<1003 {
                    tasks.withLockedValue { $0.append(Task { try await adding.add(number) }) }
                    while adding.sizes.withLockedValue({ $0.count }) < number - 999 {
                        try await Task.sleep(for: .milliseconds(1))
                    }
                }
                let cancelled = Task { try await adding.add(2) }
                while adding.database.waitingCount < 1 { try await Task.sleep(for: .milliseconds(1)) }
                cancelled.cancel()
                await #expect(throws: CancellationError.self) { try await cancelled.value }
            }
            for task in tasks.withLockedValue({ $0 }) { #expect(try await task.value != nil) }
            #expect(try await adding.add(3) == 3)
            #expect(try await adding.stored == [3, 1000, 1001, 1002])
        }
    }

    /// It is not known which of the writes were committed, so no caller makes its write again.
    @Test func aLostCommitIsUnknownToAll() async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            try await FaultyProxy.running(to: try #require(place.port)) { proxy in
                let database = try place.at(port: proxy.port).open(Self.schema)
                let adding = try Adding(to: database)
                proxy.setRule { direction, bytes in
                    let isCommit = bytes.readableBytesView.contains(Array("COMMIT".utf8))
                    return direction == .toServer && isCommit ? .forwardAndCut : .forward
                }
                await #expect {
                    _ = try await adding.add(2)
                } throws: { error in
                    if case DatabaseFailure.unknownOutcome = error { true } else { false }
                }
                proxy.setRule { _, _ in .forward }
                // A connection that is lost earlier is replaced.
                proxy.cutAll()
                #expect(try await adding.add(3) == 3)
                #expect(try await adding.stored.contains(3))
                try await database.close()
            }
        }
    }

    @Test func aDatabaseThatStopsLeavesWritesToTheirCallers() async throws {
        try await withWrites { adding, _ in
            adding.database.refuseAll()
            let output = try await adding.add(2)
            #expect(output == nil)
        }
    }

    @Test func sqliteSharesTransactionsAnyway() async throws {
        try await withTestDatabase(on: .sqlite) { place in
            let database = try place.open(Self.schema)
            let writes: SharedWrites<Int, Int>? = database.sharing { numbers, _ in numbers }
            #expect(writes == nil)
            let output = try await database.write(1, with: writes)
            #expect(output == nil)
            let written = try await database.write { db in
                try db.finish(Query<[Int]>.all("INSERT INTO numbers VALUES (7) RETURNING n") { try $0.get(0) })
            }
            #expect(written == [7])
            let stored = try await database.read { try $0.value("SELECT n FROM numbers", as: Int.self) }
            #expect(stored == 7)
            try await database.close()
        }
    }
}
