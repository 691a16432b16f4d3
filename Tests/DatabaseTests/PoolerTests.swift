import Foundation
import NIOConcurrencyHelpers
import NIOPosix
import Testbed
import Testing

@testable import Database

/// Transactions go through a PgBouncer that gives each of them another connection, and everything else past it.
@Suite(
    .enabled(
        if: Stack.postgreSQL != nil && TestServers.pgBouncer != nil,
        "`make test` starts PostgreSQL and unpacks PgBouncer"),
    .timeLimit(.minutes(30)))
struct PoolerTests {
    private let schema = Schema("deuce-diary", [.init("counters", ["CREATE TABLE counters (n BIGINT)"])])

    private func withPooled(
        through proxy: ((TestPooler, (Int) async throws -> Void) async throws -> Void)? = nil,
        _ body: (_ pooled: Database, _ place: TestDatabase, TestPooler) async throws -> Void
    ) async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            // There are fewer connections than transactions at the same time.
            try await TestPooler.serving(for: try #require(place.port), connections: 3) { pooler in
                func run(_ port: Int) async throws {
                    let database = try await open(place, port)
                    try await body(database, place, pooler)
                    try await database.close()
                }
                if let proxy { try await proxy(pooler, run) } else { try await run(pooler.port) }
            }
        }
    }

    private func open(_ place: TestDatabase, _ port: Int) async throws -> Database {
        let (url, pooler, schema) = (try #require(place.url), try #require(place.at(port: port).url), schema)
        return try await NIOThreadPool.singleton.runIfActive {
            try .postgreSQL(url: url, pooler: pooler, schema: schema, connections: 8, waiting: .patient)
        }
    }

    @Test func manyTransactionsShareAFewConnections() async throws {
        try await withPooled { database, place, _ in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        // Values of each kind, and a question mark that is none.
                        try await database.write { db in
                            try db.run("INSERT INTO counters VALUES (\(number))")
                            let text: String? = try db.value("SELECT CONCAT(CAST(\("é'") AS TEXT), '?', \(number) + 0)")
                            #expect(text == "é'?\(number)")
                        }
                        #expect(try await database.read { try $0.exists("SELECT 1 FROM counters WHERE n = \(number)") })
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await database.read { try $0.value("SELECT count(*) FROM counters", as: Int.self) } == 200)
            let settings: [String] = try await database.read { db in
                try ["search_path", "statement_timeout", "lock_timeout", "synchronous_commit"].map {
                    try db.value("SELECT current_setting(\($0))", as: String.self) ?? ""
                }
            }
            #expect(settings == ["deuce_diary", "30s", "10s", "on"])
            // Connections of PgBouncer are no nodes, and nothing is left on them for others.
            let rows = try await StockTools.run(
                "/usr/bin/env",
                [
                    "psql", try #require(place.url), "-Atc",
                    "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pooled concord' "
                        + "AND datname = current_database()",
                ])
            #expect((Int(rows.output.dropLast()) ?? 99) <= 3, "\(rows.output)")
        }
    }

    @Test func conflictsConstraintsAndRollbacksAreAsWithoutIt() async throws {
        try await withPooled { database, _, _ in
            struct Regret: Error {}
            await #expect(throws: Regret.self) {
                try await database.write { db in
                    try db.run("INSERT INTO counters VALUES (1)")
                    throw Regret()
                }
            }
            await #expect(throws: DatabaseFailure.self) {
                try await database.write { try $0.run("INSERT INTO nothing VALUES (1)") }
            }
            // A transaction whose last statement commits.
            let number = try await database.write { db in
                try db.finish(.all("INSERT INTO counters VALUES (7) RETURNING n") { try $0.get(0, as: Int.self) })
            }
            #expect(number == [7])
            // Reads whose last statements end them.
            let numbers = Query.all("SELECT n FROM counters") { try $0.get(0, as: Int.self) }
            #expect(try await database.read { try $0.finish(numbers) } == [7])
            let both = try await database.read { try $0.finish(numbers, numbers) }
            #expect(both == ([7], [7]))
            #expect(try await database.read { try $0.value("SELECT count(*) FROM counters", as: Int.self) } == 1)
        }
    }

    /// The end of the pooler is as that of a server: the transaction that was running is repeated, or its outcome is unknown.
    @Test func thePoolerMayEndAndComeBack() async throws {
        try await withPooled { database, _, pooler in
            try await database.write { try $0.run("INSERT INTO counters VALUES (1)") }
            await pooler.server.kill()
            await #expect(throws: DatabaseFailure.self) {
                try await database.write { try $0.run("INSERT INTO counters VALUES (2)") }
            }
            try await pooler.server.start()
            while (try? await database.write { try $0.run("INSERT INTO counters VALUES (3)") }) == nil {
                try await Task.sleep(for: .milliseconds(50))
            }
            let found = try await database.read { db in
                try db.all("SELECT n FROM counters ORDER BY n") { try $0.get(0, as: Int.self) }
            }
            #expect(found == [1, 3])
        }
    }

    /// The process that runs a transaction is known by the number that the server itself gives it.
    @Test func anUnknownOutcomeIsSettledByTheServersOwnProcess() async throws {
        let isCut = NIOLockedValueBox(false)
        try await withPooled { pooler, run in
            try await FaultyProxy.running(to: pooler.port) { proxy in
                proxy.setRule { direction, bytes in
                    guard direction == .toServer, isCut.withLockedValue({ $0 }),
                        bytes.readableBytesView.contains(Array("COMMIT\0".utf8))
                    else { return .forward }
                    isCut.withLockedValue { $0 = false }
                    return .forwardAndCut
                }
                try await run(proxy.port)
            }
        } _: { database, place, _ in
            let (heard, continuation) = AsyncStream<Announcement>.makeStream()
            let listener = try await open(place, try #require(place.port))
            let listening = Task { await listener.listen(as: .init()) { if $0 == .gap { continuation.yield($0) } } }
            var announcements = heard.makeAsyncIterator()
            #expect(await announcements.next() == .gap)
            isCut.withLockedValue { $0 = true }
            await #expect {
                try await database.write { db in
                    try db.run("INSERT INTO counters VALUES (1)")
                    db.afterCommit { database.announce(from: .init()) { "never" } }
                }
            } throws: { error in
                if case DatabaseFailure.unknownOutcome = error { true } else { false }
            }
            #expect(await announcements.next() == .gap)
            listening.cancel()
            await listening.value
            try await listener.close()
        }
    }
}
