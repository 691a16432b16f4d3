import ContractCheck
import ContractClient
import Foundation
import Testbed
import Testing

/// `--bus`, `--database-pooler` and `--database-replica` of `concord serve`.
@Suite(.timeLimit(.minutes(30))) struct BusOptionTests {
    @Test(arguments: [
        (["--bus", "redis://:hush@127.0.0.1:1"], "--bus redis://… cannot be used with --database sqlite"),
        (["--bus", "postgres"], "--bus postgres cannot be used with --database sqlite"),
        (["--bus", "local", "--database", "postgres://127.0.0.1:1/x"], "--bus local cannot be used with a PostgreSQL"),
        (["--bus", "http://:hush@127.0.0.1:1"], "--bus must be 'local', 'postgres', 'redis://"),
        (["--database-pooler", "postgres://anna:hush@127.0.0.1:1/x"], "--database-pooler needs --database postgres"),
        (["--database-pooler", "pgbouncer:hush"], "--database-pooler must be 'postgres://…'"),
        (["--database-replica", "postgres://anna:hush@127.0.0.1:1/x"], "--database-replica needs --database postgres"),
        (["--database-replica", "standby:hush"], "--database-replica must be 'postgres://…'"),
    ])
    func whatCannotWorkIsRefusedInWords(_ flags: [String], _ words: String) async throws {
        try await withTemporaryFolder { folder in
            let process = try ConcordProcess(["serve", "messenger", "--data", folder] + flags)
            #expect(await process.status() == 64)
            let errors = await process.standardError()
            #expect(errors.contains(words), "\(errors)")
            #expect(!FileManager.default.fileExists(atPath: folder + "/messenger.sqlite"))
        }
    }

    @Test func aVariableThatIsNoBusIsRefusedAndNotShown() async throws {
        let process = try ConcordProcess(
            ["serve", "messenger", "--data", "/nonexistent"], environment: ["CONCORD_BUS": "nats://:hush@one"])
        #expect(await process.status() == 64)
        let errors = await process.standardError()
        #expect(errors.contains("CONCORD_BUS has an invalid value") && !errors.contains("hush"), "\(errors)")
    }

    /// `concord config` shows where events and transactions go, and finds servers that do not answer.
    @Test func theSettingsAreShownWithoutPasswords() async throws {
        try await withTemporaryFolder { folder in
            let process = try ConcordProcess(
                ["config", "messenger", "--data", folder + "/data", "--port", "messenger=0"],
                environment: [
                    "CONCORD_DATABASE":
                        "postgres://anna:hush@127.0.0.1:1,127.0.0.1:2/db?target_session_attrs=read-write",
                    "CONCORD_DATABASE_POOLER": "postgres://anna:hush@127.0.0.1:3/db",
                    "CONCORD_DATABASE_REPLICA": "postgres://anna:hush@127.0.0.1:5/db",
                    "CONCORD_BUS": "redis://:hush@127.0.0.1:4/1",
                ])
            let output = await process.wholeOutput()
            #expect(await process.status() == 1)
            #expect(!output.contains("hush"), "\(output)")
            for line in [
                #/database +postgres:\/\/anna:hidden@127\.0\.0\.1:1,127\.0\.0\.1:2\/db\?target_session_attrs=read-write/#,
                #/database-pooler +postgres:\/\/anna:hidden@127\.0\.0\.1:3\/db/#,
                #/database-replica +postgres:\/\/anna:hidden@127\.0\.0\.1:5\/db/#, #/- The replica does not answer: /#,
                #/bus +redis:\/\/:hidden@127\.0\.0\.1:4\/1/#,
                #/- PostgreSQL does not answer: /#, #/- The pooler does not answer: /#,
                #/- The event bus does not answer: redis:\/\/127\.0\.0\.1:4\/1 cannot be reached/#,
            ] {
                #expect(output.firstMatch(of: line) != nil, "\(output)")
            }
        }
    }

    /// A server goes on without its Redis, and says so.
    @Test(
        .enabled(
            if: Stack.postgreSQL != nil && TestServers.redis != nil,
            "`make test` starts PostgreSQL and unpacks Redis"))
    func readinessNamesTheBus() async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            try await TestRedis.serving { redis in
                let port = try await reservePort()
                let (data, database) = (place.folder + "/data", try #require(place.url))
                let server = try await ConcordProcess.serving(
                    data: data, port: port, more: ["--database", database, "--bus", redis.url])
                let raw = RawClient(
                    baseURL: try #require(URL(string: "http://127.0.0.1:\(port)")), transport: .patient)
                func state() async throws -> String? {
                    let answer = try await raw.send(.get, "/ready")
                    #expect(answer.status == 200)
                    return try answer.json()["parts"]?["bus"]?.string
                }
                #expect(try await state() == nil)
                await redis.server.kill()
                while try await state() != "unavailable" { try await Task.sleep(for: .milliseconds(50)) }
                try await redis.server.start()
                while try await state() != nil { try await Task.sleep(for: .milliseconds(50)) }
                try await server.waitForLog { $0.contains("available again") && $0.contains("part=bus") }

                // A second node with another bus is refused, and so is a start without a Redis.
                let other = try ConcordProcess(
                    ["serve", "messenger", "--data", place.folder + "/other", "--database", database])
                #expect(await other.status() != 0)
                let errors = await other.standardError()
                #expect(errors.contains("give it the same --bus or CONCORD_BUS"), "\(errors)")
                server.signal(SIGTERM)
                #expect(await server.status() == 0)
                await redis.server.kill()
                let late = try ConcordProcess(
                    ["serve", "messenger", "--data", data, "--database", database, "--bus", redis.url])
                #expect(await late.status() != 0)
                #expect(await late.standardError().contains("\(redis.url)/0 cannot be reached"))
            }
        }
    }
}
