import ContractCheck
import Foundation
import MessengerCheck
import MessengerService
import MessengerTestHost
import Testbed
import Testing

#if canImport(FoundationXML)
import FoundationXML
#endif

/// `concord check` reports to operators and CI servers.
@Suite(.timeLimit(.minutes(30))) struct CheckTests {
    private let live = Stack(.sqlite, .live)

    private func check(_ arguments: [String]) async throws -> (status: Int32, output: String, errors: String) {
        let process = try ConcordProcess(["check"] + arguments)
        let output = await process.wholeOutput()
        return (await process.status(), output, await process.standardError())
    }

    @Test func aRunPassesAndLeavesNoSession() async throws {
        try await withMessenger(on: live, clock: TestClock(step: 20)) { host in
            let count = MessengerScenarios.all.count
            let (output, errors) = try await passingCheck(
                ["messenger", host.baseURL.absoluteString + "/"], scenarios: count)
            for clause in Set(MessengerScenarios.all.map(\.clause)) { #expect(output.contains("ok      \(clause) ")) }
            // A log has a line for each scenario, in the order of the list.
            let lines = errors.split(separator: "\n")
            #expect(lines.count == count)
            #expect(lines.first?.hasPrefix("1/\(count)  passed") == true)

            // The data that the scenarios created is deleted, except what no request can delete. That is counted.
            let left = try await host.database.read { db in
                [
                    try db.value("SELECT COUNT(*) FROM sessions", as: Int.self),
                    try db.value("SELECT COUNT(*) FROM messages", as: Int.self),
                    try db.value("SELECT COUNT(*) FROM files", as: Int.self),
                    try db.value("SELECT COUNT(*) FROM chats WHERE type = 'group'", as: Int.self),
                    try db.value("SELECT COUNT(*) FROM chats", as: Int.self),
                    try db.value("SELECT COUNT(*) FROM users WHERE deleted_at IS NULL", as: Int.self),
                ]
            }
            #expect(left[..<4] == [0, 0, 0, 0])
            let (chats, users) = (try #require(left[4]), try #require(left[5]))
            #expect(users < 10)
            let counts = [(chats, "chats"), (users, "users")].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
            let sentence = "Left on the server: \(counts.joined(separator: ", "))."
            #expect(counts.isEmpty || output.contains(sentence), "\(output)")
        }
    }

    @Test(arguments: [
        ("messenger", "POST /chats"), ("deuce-diary", "POST /api/deuces"), ("monica", "GET /contacts/{id}"),
        ("gtsd", "POST /v1/plans/generate"), ("dunbar", "PATCH /users/:id"),
    ])
    func eachAPIHasAListOfItsOwn(_ api: String, _ clause: String) async throws {
        let (status, output, errors) = try await check([api, "--list"])
        #expect(status == 0, "\(errors)")
        #expect(output.split(separator: "\n").contains { $0.hasPrefix("\(clause)  ") }, "\(output)")
    }

    @Test func theCommandsOwnServerIsCheckedThroughItsPort() async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let server = try await ConcordProcess.serving(data: folder, port: port)
            let (status, output, errors) = try await check([
                "messenger", "http://127.0.0.1:\(port)", "--only", "get /me", "--only", "/ws keepalive", "--format",
                "json", "--timeout", "300",
            ])
            #expect(status == 0, "\(errors)")
            let report = try JSONDecoder().decode(Report.self, from: Data(output.utf8))
            #expect(report.failed == 0)
            let clauses: Set = ["GET /me", "GET /me/blocks", "GET /me/sessions", "/ws keepalive"]
            #expect(Set(report.scenarios.map(\.clause)) == clauses)
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }

    /// A server whose store is full breaks the contract's promises about uploads.
    @Test func failuresAreShownWithACommandThatReproducesThem() async throws {
        var settings = MessengerService.Settings()
        settings.storageQuota = 1
        try await withMessenger(on: live, settings: settings) { host in
            let arguments = ["messenger", host.baseURL.absoluteString, "--only", "the form's field file"]
            let (status, output, _) = try await check(arguments + ["--format", "json"])
            #expect(status == 1)
            let report = try JSONDecoder().decode(Report.self, from: Data(output.utf8))
            let failure = try #require(report.scenarios.first?.failure)
            #expect(failure.expected == "201")
            #expect(failure.found?.hasPrefix("413") == true)
            let (_, repeated) = try await runShell(failure.reproduce.joined(separator: "\n"))
            let text = String(decoding: repeated, as: UTF8.self)
            #expect(text.contains("HTTP/1.1 413"))
            #expect(text.contains(#"{"error":"Storage quota exceeded"}"#))

            let junit = try await check(arguments + ["--format", "junit"])
            #expect(junit.status == 1)
            let parser = XMLParser(data: Data(junit.output.utf8))
            #expect(parser.parse())
            #expect(junit.output.contains(#"tests="1" failures="1" errors="0" skipped="0""#))
            let plain = try await check(arguments)
            #expect(plain.output.contains("BROKEN  POST /files  1 failed"))
            for line in failure.reproduce where line.hasPrefix("curl") { #expect(line.contains("/files")) }
        }
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "it takes a file that is always full"))
    func aReportThatCannotBeWrittenIsAnError() async throws {
        try await withMessenger(on: live) { host in
            let command =
                "'\(ConcordProcess.executable("concord").path)' check messenger \(host.baseURL) --only 'GET /me'"
            let (lost, errors) = try await runShell("\(command) 2>&1 >/dev/full")
            #expect(lost == 74)
            let words = "The report could not be written: No space left on device"
            #expect(
                String(decoding: errors, as: UTF8.self).contains(words), "\(String(decoding: errors, as: UTF8.self))")
            // Progress is no part of the report.
            let (status, report) = try await runShell("\(command) 2>/dev/full")
            #expect(status == 0)
            #expect(String(decoding: report, as: UTF8.self).contains(" passed, 0 failed, 0 skipped, in "))
        }
    }

    @Test func aServerOfTheContractAloneNeedNoAdditions() async throws {
        try await withMessenger(on: live) { host in
            let url = host.baseURL.absoluteString
            let (status, output, _) = try await check([
                "messenger", url, "--level", "contract", "--only", "GET /users", "--format", "json",
            ])
            #expect(status == 0)
            let report = try JSONDecoder().decode(Report.self, from: Data(output.utf8))
            for verdict in report.scenarios {
                #expect(verdict.outcome == (verdict.level == .contract ? .passed : .skipped))
            }
            #expect(report.passed > 0 && report.skipped > 0)
        }
    }

    @Test func theListNeedsNoServer() async throws {
        let (status, output, _) = try await check(["messenger", "--list"])
        #expect(status == 0)
        let lines = output.split(separator: "\n")
        #expect(lines.count == MessengerScenarios.all.count)
        for (line, scenario) in zip(lines, MessengerScenarios.all) {
            #expect(line.hasPrefix(scenario.clause) && line.hasSuffix("  \(scenario.name)"))
        }
        let json = try await check(["messenger", "--list", "--format", "json", "--only", "literal in a search"])
        let items = try JSONDecoder().decode([[String: String]].self, from: Data(json.output.utf8))
        #expect(
            items == [
                ["clause": "GET /users/search", "level": "addition", "name": "%, _ and \\ are literal in a search"]
            ])
    }

    @Test(arguments: [
        ("messenger", "GET /chats"), ("deuce-diary", "POST /api/deuces"), ("monica", "POST /contacts"),
        ("gtsd", "POST /v1/evidence"), ("dunbar", "POST /login"),
    ])
    func eachAPIHasScenariosOfItsOwn(_ api: String, _ operation: String) async throws {
        let (status, output, _) = try await check([api, "--list"])
        #expect(status == 0)
        #expect(output.split(separator: "\n").contains { $0.hasPrefix(operation + " ") }, "\(output)")
    }

    @Test func anUnreachableServerIsReportedOnce() async throws {
        let url = "http://127.0.0.1:\(try await reservePort())"
        for format in ["text", "json", "junit"] {
            let (status, output, errors) = try await check(["messenger", url, "--format", format])
            #expect(status == 2)
            #expect(output.isEmpty)
            #expect(errors == "No answer from \(url): nothing listens there\n")
        }
        try await withMessenger(on: live) { host in
            let (status, _, errors) = try await check(["messenger", host.baseURL.absoluteString + "/api"])
            #expect(status == 2)
            #expect(errors.contains("Is it the base URL of the API?"))
        }
    }

    @Test func aTokenMayBeginWithAHyphen() async throws {
        let url = "http://127.0.0.1:\(try await reservePort())"
        let (status, _, errors) = try await check(["monica", url, "--token", "-x", "--token", "--list"])
        #expect(status == 2)
        #expect(errors == "No answer from \(url): nothing listens there\n")
    }

    @Test func anInterruptionEndsTheRunAndItsSessions() async throws {
        try await withMessenger(on: live, clock: TestClock(step: 20)) { host in
            let process = try ConcordProcess(["check", "messenger", host.baseURL.absoluteString])
            // The first scenario has ended, and others are running.
            try await process.waitForErrors("1/")
            process.signal(SIGINT)
            let output = await process.wholeOutput()
            #expect(await process.status() == 130)
            #expect(output.contains("Ended early: interrupted."))
            let sessions = try await host.database.read { try $0.value("SELECT COUNT(*) FROM sessions", as: Int.self) }
            // On a busy machine the time for cleaning up may not suffice; the run then says what it has left.
            let errors = await process.standardError()
            #expect(sessions == 0 || errors.contains(" sessions"), "\(errors)")
        }
    }

    @Test(arguments: [
        (["messager", "http://localhost"], "There is no API 'messager'. Known: messenger"),
        (["messenger"], "Give the base URL of the server: concord check messenger http://localhost:8080"),
        (["messenger", "localhost:8080"], "'localhost:8080' is not a base URL such as http://localhost:8080"),
        (["messenger", "ftp://localhost"], "'ftp://localhost' is not a base URL"),
        (["messenger", "http://localhost?a=b"], "is not a base URL"),
        (["messenger", "http://localhost", "--timeout", "0"], "--timeout must be a number of seconds above 0"),
        (["messenger", "http://localhost", "--parallel", "65"], "--parallel must be 1 to 64"),
        (["messenger", "http://localhost", "--format", "xml"], "--format"),
        (["messenger", "http://localhost", "--level", "some"], "--level"),
        (["messenger", "http://localhost", "--level", "monica4"], "--level monica4 is for monica"),
        (["messenger", "http://localhost", "--only", "nothing like it"], "No scenario contains 'nothing like it'"),
        (
            ["messenger", "http://localhost", "--only", "chat", "--only", "nothing like it"],
            "No scenario contains 'nothing like it'"
        ),
        (["messenger", "--list", "--format", "junit"], "--list supports the formats text and json"),
    ])
    func badArgumentsAreRefusedWithAReason(_ arguments: [String], _ words: String) async throws {
        let (status, output, errors) = try await check(arguments)
        #expect(status == 64)
        #expect(output.isEmpty)
        #expect(errors.contains(words))
    }

    @Test func helpDescribesOptionsAndExitCodes() async throws {
        let (status, help, _) = try await check(["--help"])
        #expect(status == 0)
        for word in [
            "messenger", "--format", "--only", "--level", "--timeout", "--parallel", "--list", "text", "json", "junit",
            "contract", "all", "Exit codes", "curl",
        ] { #expect(help.contains(word), "\(word)") }
    }
}
