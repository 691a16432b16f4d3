import Foundation
import Testbed
import Testing

/// A server is right whatever PostgreSQL, its database, its role and the process's environment have set.
@Suite(
    .enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"), .timeLimit(.minutes(Torture.minutes)))
struct OddDatabaseTests {
    /// The scenarios that run: repeats under one key, whose answers come from the database. The long form has all.
    private static let scenarios = Torture.isOn ? [] : ["--only", "under one key"]

    private static let poolings = TestServers.pgBouncer == nil ? [false] : [false, true]

    @Test(arguments: poolings)
    func everyAPIKeepsItsContract(_ isPooled: Bool) async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            try await OddSettings.with(place, isPooled: isPooled) { place in
                guard isPooled else { return try await check(place, OddSettings.environment) }
                try await TestPooler.serving(for: try #require(place.port)) { pooler in
                    let more = ["CONCORD_DATABASE_POOLER": try #require(place.at(port: pooler.port).url)]
                    try await check(place, OddSettings.environment.merging(more) { $1 })
                }
            }
        }
    }

    /// Runs scenarios of all APIs.
    private func check(_ place: TestDatabase, _ environment: [String: String]) async throws {
        let at = ["--data", place.folder + "/data", "--database", try #require(place.url)]
        var (ports, flags) = ([String: Int](), [String]())
        for api in ["messenger", "deuce-diary", "monica", "gtsd", "dunbar"] {
            ports[api] = try await reservePort()
            flags += ["--port", "\(api)=\(ports[api] ?? 0)"]
        }
        let server = try ConcordProcess(["serve"] + at + flags, environment: environment)
        try await server.waitUntilReady()
        var more = ["deuce-diary": ["--data", place.folder + "/data"]]
        for account in ["alice", "bob"] {
            let command = try ConcordProcess(
                ["monica", "token", "create", "--account", account] + at, environment: environment)
            let token = await command.wholeOutput().trimmingCharacters(in: .whitespacesAndNewlines)
            more["monica", default: []] += ["--token", token]
        }
        for (api, port) in ports {
            let url = "http://127.0.0.1:\(port)" + (api == "dunbar" || api == "monica" ? "/api" : "")
            let process = try ConcordProcess(
                ["check", api, url, "--timeout", "900"] + Self.scenarios + more[api, default: []])
            let output = await process.wholeOutput()
            let errors = await process.standardError()
            #expect(await process.status() == 0, "\(api): \(output)\(errors)")
            #expect(output.contains(" passed, 0 failed, 0 skipped"), "\(api): \(output)")
        }
        server.signal(SIGTERM)
        let log = await server.standardError()
        #expect(await server.status() == 0, "\(log)")
    }

    /// Backups, restores and moves run programs of PostgreSQL, which have the same environment.
    @Test func backupsAndMovesKeepEveryCharacter() async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            try await OddSettings.with(place) { place in
                try await place.withSecond { other in
                    let (data, url, backups) = (place.folder + "/data", place.url, place.folder + "/backups")
                    let server = try await LivingServer(OddSettings.environment)
                    let first = try await server.start(data, url)
                    let content = try await server.fill(data, url, messages: 5, files: 2)
                    try await server.succeed(["backup", backups, "--data", data])
                    try await server.stop(first)

                    // The restored server has the usual environment.
                    let (usual, restored) = (try await LivingServer(), place.folder + "/restored")
                    try await server.succeed(
                        ["restore", backups, "--data", restored, "--database", try #require(other)])
                    let second = try await usual.start(restored, other)
                    try await usual.expect(content, restored, other)
                    try await usual.stop(second)

                    try await server.succeed(
                        ["move", "--to", "sqlite", "--database", try #require(url), "--data", data])
                    let third = try await usual.start(data, nil)
                    try await usual.expect(content, data, nil)
                    try await usual.stop(third)
                }
            }
        }
    }

    @Test func aDatabaseOfAnotherEncodingIsRefusedInWords() async throws {
        let options = "ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0"
        try await withTestDatabase(on: .postgreSQL) { place in
            try await place.withSecond(options) { url in
                let at = ["--data", place.folder + "/data", "--database", try #require(url)]
                let words = "The PostgreSQL database has the encoding LATIN1, and only UTF8 has every character."
                let refused = try await StartedServer().refused(place.folder + "/data", more: Array(at.dropFirst(2)))
                #expect(refused.contains(words), "\(refused)")
                let config = try ConcordProcess(["config", "messenger", "--port", "messenger=0"] + at)
                let output = await config.wholeOutput()
                #expect(await config.status() == 1)
                #expect(output.contains(words), "\(output)")
            }
        }
    }
}
