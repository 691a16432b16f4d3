import Dispatch
import NIOConcurrencyHelpers
import Testbed
import Testing

@testable import Database

/// Rows that many writes of one transaction change are stored once, without a visible difference.
@Suite(.timeLimit(.minutes(30))) struct KeptRowTests {
    private static let schema = Schema(
        "counts",
        [
            .init(
                "counts",
                [
                    "CREATE TABLE counts (id BIGINT PRIMARY KEY, n BIGINT NOT NULL)",
                    "CREATE TABLE steps (id {ID}, count_id BIGINT NOT NULL, n BIGINT NOT NULL)",
                ])
        ])

    private struct Refused: Error, Equatable {}

    /// A row of `counts`.
    private final class Count: KeptRow {
        private let id: Int64
        private var n: Int64
        private let stores: NIOLockedValueBox<Int>

        private init(_ id: Int64, _ n: Int64, _ stores: NIOLockedValueBox<Int>) {
            (self.id, self.n, self.stores) = (id, n, stores)
        }

        /// Counts by one and adds a step, which has the new count.
        static func step(_ id: Int64, counting stores: NIOLockedValueBox<Int>, in db: Session) throws -> Int64 {
            try db.beside {
                let count: Count
                if let kept: Count = db.keptRow(id) {
                    count = kept
                } else {
                    let n: Int64 = try #require(try db.value("SELECT n FROM counts WHERE id = \(id)"))
                    count = Count(id, n, stores)
                    db.keep(count, as: id)
                }
                try db.run("INSERT INTO steps (count_id, n) VALUES (\(id), \(count.n + 1))")
                count.n += 1
                return count.n
            }
        }

        func store(in db: Session) throws {
            stores.withLockedValue { $0 += 1 }
            try db.run("UPDATE counts SET n = \(n) WHERE id = \(id)")
        }
    }

    private struct Counts {
        let database: Database
        let stores = NIOLockedValueBox(0)

        func step(_ id: Int64) async throws -> Int64 {
            try await database.write { [stores] in try Count.step(id, counting: stores, in: $0) }
        }

        var stored: [Int64] {
            get async throws {
                try await database.read { try $0.all("SELECT n FROM counts ORDER BY id") { try $0.get(0) } }
            }
        }

        func steps(of id: Int64) async throws -> [Int64] {
            try await database.read {
                try $0.all("SELECT n FROM steps WHERE count_id = \(id) ORDER BY id") { try $0.get(0) }
            }
        }

        /// Begins writes while the writing thread is busy, so that one transaction makes all of them.
        ///
        /// - Parameter count: The number of writes that the closure makes.
        func together(_ count: Int, _ writes: @escaping @Sendable () async throws -> Void) async throws {
            let (begun, go) = (AsyncStream<Void>.makeStream(), DispatchSemaphore(value: 0))
            async let busy: Void = database.write { _ in
                begun.continuation.yield()
                go.wait()
            }
            for await _ in begun.stream { break }
            async let made: Void = writes()
            while database.waitingCount < count { try await Task.sleep(for: .milliseconds(1)) }
            go.signal()
            try await busy
            try await made
        }
    }

    private func withCounts(_ body: (Counts) async throws -> Void) async throws {
        try await withTestDatabase(on: .sqlite) { place in
            let database = try place.open(Self.schema)
            try await database.write { try $0.run("INSERT INTO counts VALUES (1, 0), (2, 0)") }
            try await body(Counts(database: database))
            try await database.close()
        }
    }

    @Test func manyChangesOfARowAreStoredOnce() async throws {
        try await withCounts { counts in
            try await counts.together(50) {
                try await withThrowingTaskGroup(of: Int64.self) { group in
                    for index in 0..<50 { group.addTask { try await counts.step(index < 40 ? 1 : 2) } }
                    let numbers = try await group.reduce(into: []) { $0.append($1) }
                    #expect(numbers.sorted() == (Array(1...40) + Array(1...10)).sorted())
                }
            }
            #expect(try await counts.stored == [40, 10])
            #expect(try await counts.steps(of: 1) == Array(1...40))
            #expect(try await counts.steps(of: 2) == Array(1...10))
            #expect(counts.stores.withLockedValue { $0 } == 2)
        }
    }

    /// Writes that do not keep rows see what others keep, and others see what they change.
    @Test func otherStatementsSeeKeptRows() async throws {
        try await withCounts { counts in
            let seen = NIOLockedValueBox<[Bool]>([])
            try await counts.together(60) {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for index in 0..<60 {
                        group.addTask {
                            guard index % 3 == 0 else {
                                _ = try await counts.step(1)
                                return
                            }
                            try await counts.database.write { db in
                                let n: Int64? = try db.value("SELECT n FROM counts WHERE id = 1")
                                let steps: Int64? = try db.value(
                                    "SELECT COALESCE(MAX(n), 0) FROM steps WHERE count_id = 1")
                                seen.withLockedValue { $0.append(n == steps) }
                                // The next step counts from here on.
                                try db.run("UPDATE counts SET n = n + 100 WHERE id = 1")
                                try db.run("INSERT INTO steps (count_id, n) SELECT 1, n FROM counts WHERE id = 1")
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
            #expect(seen.withLockedValue { $0.count == 20 && $0.allSatisfy { $0 } })
            #expect(try await counts.stored == [40 + 20 * 100, 0])
            #expect(try await counts.steps(of: 1).last == 40 + 20 * 100)
        }
    }

    /// A write that fails takes nothing from the others, whether it fails before or after its own changes.
    @Test(arguments: [false, true])
    func aWriteThatFailsTakesNothingFromTheOthers(afterItsChanges: Bool) async throws {
        try await withCounts { counts in
            try await counts.together(30) {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for index in 0..<30 {
                        group.addTask {
                            guard index % 5 == 0 else {
                                _ = try await counts.step(1)
                                return
                            }
                            await #expect(throws: Refused()) {
                                try await counts.database.write { [stores = counts.stores] db in
                                    if afterItsChanges { _ = try Count.step(1, counting: stores, in: db) }
                                    // It sees what is kept, so that is stored for it.
                                    _ = try db.exists("SELECT 1 FROM counts WHERE n = 7")
                                    throw Refused()
                                }
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
            #expect(try await counts.stored == [24, 0])
            #expect(try await counts.steps(of: 1) == Array(1...24))
        }
    }

    /// A write that only looked is left out by itself. The others are not made again for it, although what they kept was
    /// stored when it looked.
    @Test func aWriteThatOnlyLookedIsLeftOut() async throws {
        try await withCounts { counts in
            let attempts = NIOLockedValueBox(0)
            try await counts.together(20) {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for index in 0..<20 {
                        group.addTask {
                            try? await counts.database.write { [stores = counts.stores] db in
                                attempts.withLockedValue { $0 += 1 }
                                if index % 2 == 0 {
                                    _ = try Count.step(1, counting: stores, in: db)
                                    return
                                }
                                _ = try db.exists("SELECT 1 FROM counts WHERE n = 7")
                                throw Refused()
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
            #expect(try await counts.stored == [10, 0])
            #expect(attempts.withLockedValue { $0 } == 20)
        }
    }
}
