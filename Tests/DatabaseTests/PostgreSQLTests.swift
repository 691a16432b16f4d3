import Database
import NIOConcurrencyHelpers
import Testbed
import Testing

/// What only a database that several nodes share has.
@Suite(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"))
struct PostgreSQLTests {
    private let schema = Schema(
        "counters", [.init("counters", ["CREATE TABLE counters (name TEXT PRIMARY KEY, n BIGINT)"])])

    /// Two nodes announce at once; a third hears each announcement once, in the order of the commits.
    @Test func announcementsComeFromEveryNodeInTheOrderOfTheCommits() async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            let (first, second, ear) = (try place.open(schema), try place.open(schema), try place.open(schema))
            try await first.write { try $0.run("INSERT INTO counters VALUES (\("a"), \(0))") }
            let (heard, continuation) = AsyncStream<Announcement>.makeStream()
            let listening = Task { await ear.listen { continuation.yield($0) } }
            var announcements = heard.makeAsyncIterator()
            #expect(await announcements.next() == .gap)

            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<100 {
                    let node = index.isMultiple(of: 2) ? first : second
                    group.addTask {
                        try? await node.write { db in
                            let n = try db.value(
                                "UPDATE counters SET n = n + 1 WHERE name = \("a") RETURNING n", as: Int.self)
                            try db.announce("\(n ?? 0)")
                            // A transaction that fails announces nothing.
                            if index % 10 == 9 { throw CancellationError() }
                        }
                    }
                }
                try await group.waitForAll()
            }
            for n in 1...90 { #expect(await announcements.next() == .payload("\(n)")) }
            listening.cancel()
            await listening.value
            for node in [first, second, ear] { try await node.close() }
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

    @Test func aServerThatIsAwayIsUnavailableAtOnce() {
        #expect {
            _ = try Database.postgreSQL(url: "postgres://nobody@127.0.0.1:1/nothing", schema: schema)
        } throws: { error in
            if case DatabaseFailure.unavailable = error { true } else { false }
        }
    }
}
