import Contract
import ContractCheck
import ContractClient
import DeuceDiaryCheck
import Foundation
import NIOSockets
import Testbed
import Testing

/// `concord serve` runs Deuce Diary with real tokens and real pictures.
@Suite(.timeLimit(.minutes(30))) struct DiaryTests {
    private func serving(_ folder: String, port: Int, _ more: [String] = []) async throws -> ConcordProcess {
        let process = try ConcordProcess(
            ["serve", "deuce-diary", "--data", folder, "--port", "deuce-diary=\(port)"] + more)
        try await process.waitUntilReady()
        return process
    }

    private func check(_ arguments: [String]) async throws -> (status: Int32, output: String, errors: String) {
        let process = try ConcordProcess(["check", "deuce-diary"] + arguments)
        let output = await process.wholeOutput()
        return (await process.status(), output, await process.standardError())
    }

    @Test(.enabled(if: StockTools.python != nil, "`make test` installs the clients and sets CONCORD_PYTHON"))
    func aWholeSessionOfStockClients() async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let server = try await serving(folder + "/data", port: port)
            #expect(server.standardOutput.contains("deuce-diary  http://127.0.0.1:\(port)\nready\n"))
            let picture = folder + "/me.jpg"
            try Data(SampleImage.jpeg(width: 1200, height: 900)).write(to: URL(fileURLWithPath: picture))
            let session = try await StockTools.run(
                try #require(StockTools.python),
                [
                    StockTools.package + "/Tests/StockClient/diary.py", "http://127.0.0.1:\(port)",
                    try await ConcordProcess.diaryToken("user_john", folder + "/data", "--name", "John Doe"),
                    try await ConcordProcess.diaryToken("user_jane", folder + "/data", "--email", "jane@example.com"),
                    picture,
                ])
            #expect(session.status == 0, "\(session.output)")
            #expect(session.output.contains("session: as the contract says"))
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }

    /// A Clerk instance needs configuration only, and every forgery is refused.
    @Test(
        .enabled(if: StockTools.python != nil, "`make test` installs PyJWT and sets CONCORD_PYTHON"),
        arguments: [false, true])
    func tokensOfAnIssuerElsewhere(_ takesPending: Bool) async throws {
        try await withTemporaryFolder { folder in
            let (port, issuer) = (try await reservePort(), try await reservePort())
            let server = try await serving(
                folder, port: port,
                [
                    "--deuce-diary-issuer", "http://127.0.0.1:\(issuer)", "--deuce-diary-party", "https://app.example",
                    "--log-level", "debug",
                ] + (takesPending ? ["--deuce-diary-allow-pending-sessions"] : []))
            let session = try await StockTools.run(
                try #require(StockTools.python),
                [StockTools.package + "/Tests/StockClient/issuer.py", "http://127.0.0.1:\(port)", "\(issuer)"]
                    + (takesPending ? ["pending"] : []))
            #expect(session.status == 0, "\(session.output)")
            let forgeries = takesPending ? 20 : 21
            let words = "issuer: as the contract says, \(forgeries) forgeries refused"
            #expect(session.output.contains(words), "\(session.output)")
            // Users with tokens of the server's own key are accepted, too.
            let raw = RawClient(
                baseURL: try #require(URL(string: "http://127.0.0.1:\(port)")), transport: .patient)
            let own = try await raw.send(
                .get, "/api/auth/user", token: try await ConcordProcess.diaryToken("user_own", folder))
            #expect(own.status == 200)
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
            // The log has details that clients do not receive.
            let log = await server.standardError()
            for reason in [
                "it has expired (exp)", "it was made for another party, or names none (azp)",
                "it is of another issuer (iss)", "its key is none of the issuer's (kid)",
                "it is of another type than JWT (typ)", "its session is not active (sts)",
                "it was made for a machine, not for a user (sub)",
            ] { #expect(log.contains(reason), "\(reason)") }
            // The warning appears once, although several tokens had no names.
            #expect(log.components(separatedBy: "a token has no names").count == 2)
        }
    }

    @Test(arguments: Stack.Engine.available)
    func anOperatorDeletesALocation(_ engine: Stack.Engine) async throws {
        try await withTestDatabase(on: engine) { place in
            let port = try await reservePort()
            let more = place.url.map { ["--database", $0] } ?? []
            let server = try await serving(place.folder, port: port, more)
            let raw = RawClient(
                baseURL: try #require(URL(string: "http://127.0.0.1:\(port)")), transport: .patient)
            let john = try await ConcordProcess.diaryToken("user_john", place.folder)
            func names() async throws -> [String?] {
                try await raw.send(.get, "/api/locations").json().elements.filter { $0["isDefault"] == false }
                    .map { $0["name"]?.string }
            }
            func delete(_ name: String) async throws -> (status: Int32, output: String, errors: String) {
                let process = try ConcordProcess(
                    ["deuce-diary", "location", "delete", name, "--data", place.folder] + more)
                let output = await process.wholeOutput()
                return (await process.status(), output, await process.standardError())
            }
            for name in ["Dr. X's Clinic", "The Moon"] {
                let answer = try await raw.send(
                    .post, "/api/locations", token: john, body: #"{"name":"\#(name)"}"#)
                #expect(answer.status == 200)
            }
            let group = try await raw.send(.get, "/api/groups", token: john).json()[0]?["id"]?.string ?? ""
            let logged = try await raw.send(
                .post, "/api/deuces", token: john,
                body: #"{"groupIds":["\#(group)"],"location":"Dr. X's Clinic","thoughts":""}"#)
            #expect(logged.status == 200)

            let deleted = try await delete("dr. x's CLINIC")
            #expect(deleted.status == 0, "\(deleted.errors)")
            #expect(deleted.output.contains("was deleted"))
            #expect(try await names() == ["The Moon"])
            let entries = try await raw.send(.get, "/api/deuces", token: john).json()
            #expect(entries[0]?["location"] == "Dr. X's Clinic")
            for (name, words) in [("dr. x's clinic", "There is no location"), ("HOME", "is a default location")] {
                let refused = try await delete(name)
                #expect(refused.status != 0)
                #expect(refused.errors.contains(words), "\(refused.errors)")
            }
            #expect(try await raw.send(.get, "/api/locations").json().elements.count == 9)
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }

    @Test func aCheckPassesWithTheServersOwnKey() async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let server = try await serving(folder, port: port)
            let url = "http://127.0.0.1:\(port)"
            let (output, _) = try await passingCheck(
                ["deuce-diary", url, "--data", folder], scenarios: DeuceDiaryScenarios.all.count)
            #expect(output.contains("Left on the server: "))
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }

    @Test func aCheckWithTokensRunsTheContractsScenariosOnly() async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let server = try await serving(folder, port: port)
            let url = "http://127.0.0.1:\(port)"
            var tokens: [String] = []
            for user in ["a", "b", "c"] { tokens += ["--token", try await ConcordProcess.diaryToken(user, folder)] }
            // In the second round, both users have a history.
            for _ in 0..<2 {
                let (status, output, errors) = try await check([url, "--format", "json"] + tokens)
                #expect(status == 0, "\(output)\(errors)")
                let report = try JSONDecoder().decode(Report.self, from: Data(output.utf8))
                #expect(report.failed == 0)
                #expect(report.passed == DeuceDiaryScenarios.all.filter { $0.level == .contract }.count)
                #expect(report.leftBehind["users"] == nil)
            }
            let (status, output, _) = try await check([url, "--format", "json"] + tokens.prefix(2))
            #expect(status == 0)
            let report = try JSONDecoder().decode(Report.self, from: Data(output.utf8))
            let untried = report.scenarios.filter { $0.outcome == .skipped && $0.level == .contract }
            #expect(!untried.isEmpty)
            #expect(untried.allSatisfy { $0.reason == "it needs more people than tokens were given" })
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }

    @Test(arguments: [
        (["http://localhost", "--data", "/nonexistent"], "There is no token key in /nonexistent"),
        (["http://localhost", "--token", "a", "--data", "b"], "Give --token or --data, not both"),
        (["http://localhost", "--token", "a", "--token", "a"], "Each --token must be a different one"),
    ])
    func badArgumentsOfACheckAreRefusedWithAReason(_ arguments: [String], _ words: String) async throws {
        let (status, output, errors) = try await check(arguments)
        #expect(status == 64)
        #expect(output.isEmpty)
        #expect(errors.contains(words))
    }

    @Test(arguments: [
        (["--deuce-diary-issuer", "ftp://x"], "ftp://x/.well-known/jwks.json is no https:// address"),
        (["--deuce-diary-issuer", "concord"], "'concord' is the name of this server's own issuer"),
        (["--deuce-diary-key-set", "https://x/jwks"], "need --deuce-diary-issuer"),
        (["--deuce-diary-party", "https://app"], "need --deuce-diary-issuer"),
        (["--deuce-diary-allow-pending-sessions"], "need --deuce-diary-issuer"),
        (["--deuce-diary-sockets", "closed"], "The value 'closed' is invalid for '--deuce-diary-sockets"),
        (["--deuce-diary-rate-limit", "0"], "must be 1 or more, not 0"),
        (["--deuce-diary-redirect", "myapp://join/"], "'myapp://join/' is not a URL that contains {inviteId}"),
    ])
    func badSettingsAreRefusedWithAReason(_ arguments: [String], _ words: String) async throws {
        let process = try ConcordProcess(["serve"] + arguments)
        #expect(await process.status() == 64)
        #expect(await process.standardError().contains(words))
    }

    @Test func settingsReachTheServer() async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let server = try await serving(
                folder, port: port,
                [
                    "--public-url", "deuce-diary=https://diary.example/", "--deuce-diary-sockets", "member",
                    "--deuce-diary-redirect", "https://diary.example/open?invite={inviteId}",
                    "--deuce-diary-rate-limit", "3",
                ])
            let raw = RawClient(
                baseURL: try #require(URL(string: "http://127.0.0.1:\(port)")), transport: .patient)
            let john = try await ConcordProcess.diaryToken("user_john", folder)
            let groups = try await raw.send(.get, "/api/groups", token: john).json()
            let group = groups[0]?["id"]?.string ?? ""
            let invite = try await raw.send(.post, "/api/groups/\(group)/invite", token: john).json()
            let id = invite["id"]?.string ?? ""
            #expect(invite["inviteLink"] == .string("https://diary.example/join/\(id)"))
            let answer = try await raw.send(.get, "/join/\(id)")
            #expect(answer.headers[.location] == "https://diary.example/open?invite=\(id)")
            let socket = raw.baseURL.appendingPathComponent("ws")
            let refused = await #expect(throws: SocketRefused.self) {
                try await NIOSocketTransport().open(socket, headers: [:], maximumMessageSize: 65_536)
            }
            #expect(refused?.status == 401)
            let third = try await raw.send(.get, "/api/groups", token: john)
            #expect(third.status == 200)
            let fourth = try await raw.send(.get, "/api/groups", token: john)
            #expect(fourth.status == 429)
            #expect(fourth.text == #"{"message":"Too many requests, please try again later."}"#)
            #expect(fourth.headers[.retryAfter] != nil)
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }
}
