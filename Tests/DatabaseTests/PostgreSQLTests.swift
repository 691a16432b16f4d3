import NIOConcurrencyHelpers
import Testbed
import Testing

@testable import Database

/// These properties hold only for a database that several nodes share.
@Suite(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"), .timeLimit(.minutes(30)))
struct PostgreSQLTests {
    private let schema = Schema(
        "counters", [.init("counters", ["CREATE TABLE counters (name TEXT PRIMARY KEY, n BIGINT)"])])

    /// Commits are durable whatever the server's setting is; a stronger setting stays.
    @Test(arguments: [("off", "on"), ("remote_apply", "remote_apply")])
    func commitsAreDurableWhateverTheServersSettingIs(_ setting: String, _ expected: String) async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            let url = try #require(place.url)
            let name = try #require(url.split(separator: "/").last?.prefix { $0 != "?" })
            try Database.administer(url: url, "ALTER DATABASE \"\(name)\" SET synchronous_commit = \(setting)")
            let database = try place.open(schema)
            let value = try await database.read { try $0.value("SHOW synchronous_commit", as: String.self) }
            #expect(value == expected)
            try await database.close()
        }
    }

    @Test func nodesThatStartAtOnceMigrateOnce() async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            let nodes = try await withThrowingTaskGroup(of: Database.self) { group in
                for _ in 0..<4 { group.addTask { try place.open(schema) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for node in nodes { try await node.close() }
        }
    }

    private func withCounter(_ body: (Database, TestDatabase) async throws -> Void) async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            // With one connection, a transaction finds the state that the one before it left.
            let database = try Database.postgreSQL(url: #require(place.url), schema: schema, connections: 1)
            try await database.write { try $0.run("INSERT INTO counters VALUES (\("a"), \(0))") }
            try await body(database, place)
            try await database.close()
        }
    }

    @Test func aConnectionIsReusableAfterAFailure() async throws {
        try await withCounter { database, _ in
            let missing = "SELECT missing FROM counters" as SQL
            for round in 1...3 {
                await #expect(throws: DatabaseFailure.self) { try await database.read { _ = try $0.exists(missing) } }
                let count = try await database.count()
                #expect(count == round - 1)
                await #expect(throws: DatabaseFailure.self) {
                    try await database.write { db in
                        try db.run("UPDATE counters SET n = 100")
                        _ = try db.exists("SELECT n / 0 FROM counters")
                    }
                }
                await #expect(throws: DatabaseFailure.self) {
                    try await database.write { try $0.run("INSERT INTO counters VALUES (\("a"), \(1))") }
                }
                try await database.write { try $0.run("UPDATE counters SET n = n + 1") }
            }
            let count = try await database.count()
            #expect(count == 3)
        }
    }

    /// PostgreSQL rolls back a transaction after an error, even if the closure ignores the error, and COMMIT reports
    /// none.
    @Test func aFailureThatAClosureIgnoresIsNotCommitted() async throws {
        try await withCounter { database, _ in
            await #expect(throws: DatabaseFailure.self) {
                try await database.write { db in
                    try db.run("UPDATE counters SET n = 100")
                    _ = try? db.run("INSERT INTO counters VALUES (\("a"), \(1))")
                }
            }
            let count = try await database.count()
            #expect(count == 0)
        }
    }

    @Test func aConnectionThatWasLostIsReplacedUnnoticed() async throws {
        try await withCounter { database, place in
            let other = try place.open(schema)
            for round in 1...3 {
                let count = try await database.count()
                #expect(count == round - 1)
                try await other.write { db in
                    try db.run(
                        """
                        SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
                        WHERE datname = current_database() AND pid <> pg_backend_pid()
                        """)
                }
                // A write or a read discovers the lost connections.
                let reread = round == 2 ? try await database.count() : 1
                #expect(reread == 1)
                try await database.write { try $0.run("UPDATE counters SET n = n + 1") }
            }
            try await other.close()
        }
    }

    /// A request that finds its connection gone and the server still starting waits a moment.
    @Test func aRestartOfTheServerFailsNoRequest() async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            try await FaultyProxy.running(to: try #require(place.port)) { proxy in
                let database = try place.at(port: proxy.port).open(schema)
                try await database.write { try $0.run("INSERT INTO counters VALUES (\("a"), \(0))") }
                for round in 0..<3 {
                    proxy.restart(refusing: 2)
                    let count = round == 1 ? try await database.count() : 0
                    #expect(count == 0)
                    try await database.write { try $0.run("UPDATE counters SET n = n") }
                }
                try await database.close()
            }
        }
    }

    /// The server may have been away for any time.
    @Test func aServerThatIsBackIsUsedSoon() async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            try await FaultyProxy.running(to: try #require(place.port)) { proxy in
                let database = try place.at(port: proxy.port).open(schema)
                proxy.refuse(true)
                // The pauses grow with each failed attempt.
                let end = ContinuousClock.now + .seconds(4)
                while ContinuousClock.now < end {
                    await #expect(throws: DatabaseFailure.self) { try await database.check() }
                    try await Task.sleep(for: .milliseconds(10))
                }
                proxy.refuse(false)
                #expect(PostgreSQLPool.longestPause <= 0.5)
                // On a busy machine a connection may take longer than its limit, and is then tried again.
                while (try? await database.check()) == nil { try await Task.sleep(for: .milliseconds(10)) }
                try await database.close()
            }
        }
    }

    @Test func aServerThatIsAwayIsUnavailableAtOnce() {
        #expect {
            _ = try Database.postgreSQL(url: "postgres://nobody@127.0.0.1:1/nothing", schema: schema)
        } throws: { error in
            if case DatabaseFailure.unavailable = error { true } else { false }
        }
    }
}

extension Database {
    fileprivate func count() async throws -> Int? {
        try await read { try $0.value("SELECT n FROM counters WHERE name = \("a")", as: Int.self) }
    }
}
