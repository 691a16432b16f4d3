import ContractCheck
import DunbarCheck
import DunbarClient
import Foundation
import Testbed
import Testing

/// Dunbar as an operator runs it: with the real image helper and its own mailbox.
@Suite struct DunbarCommandTests {
    private func serving(_ folder: String, port: Int, _ more: String...) async throws -> ConcordProcess {
        let process = try ConcordProcess(
            ["serve", "dunbar", "--data", folder, "--port", "dunbar=\(port)"] + more)
        try await process.waitUntilReady()
        return process
    }

    private func concord(_ arguments: String...) async throws -> (status: Int32, output: String, errors: String) {
        let process = try ConcordProcess(arguments)
        let output = await process.wholeOutput()
        return (await process.status(), output, await process.standardError())
    }

    /// On a server whose passwords cost little: some scenarios make many accounts.
    @Test func aWholeCheckPassesAndLeavesNoSession() async throws {
        try await withDunbar(on: Stack(.sqlite, .live), .init(clock: TestClock(step: 20))) { host in
            let (status, output, errors) = try await concord("check", "dunbar", host.baseURL.absoluteString)
            #expect(status == 0, "\(output)\(errors)")
            let count = DunbarScenarios.all.count
            #expect(output.contains("\(count) scenarios: \(count) passed, 0 failed, 0 skipped, in "))
            let (sessions, users) = try await host.database.read { db in
                (
                    try db.value("SELECT COUNT(*) FROM sessions", as: Int.self) ?? -1,
                    try db.value("SELECT COUNT(*) FROM users", as: Int.self) ?? -1
                )
            }
            #expect(sessions == 0)
            #expect(output.contains(" \(users) users."))
        }
    }

    /// With real pictures, and real passwords.
    @Test func theCommandsOwnServerIsCheckedThroughItsPort() async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let server = try await serving(folder, port: port)
            #expect(server.standardOutput.contains("dunbar       http://127.0.0.1:\(port)/api\n"))
            let (status, output, errors) = try await concord(
                "check", "dunbar", "http://127.0.0.1:\(port)/api", "--only", "a photo has", "--only",
                "what is no photo",
                "--only", "media keep", "--only", "health", "--only", "the sdk signs in")
            #expect(status == 0, "\(output)\(errors)")
            #expect(output.contains("5 scenarios: 5 passed, 0 failed, 0 skipped, in "), "\(output)")
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }

    @Test func anOperatorMakesAdminsAndReadsTheLetters() async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let url = try #require(URL(string: "http://127.0.0.1:\(port)/api"))
            let store = MemoryCookieStore()
            var server = try await serving(folder, port: port)
            let dunbar = DunbarClient(baseURL: url, store: store, retry: .never)
            try await dunbar.register(
                .init(username: "Alice", email: "alice@example.com", password: "secret123", displayName: "Alice"))
            // The file of a running server has one writer.
            let early = try await concord("admin", "dunbar", "--promote", "alice", "--data", folder)
            #expect(early.status != 0)
            #expect(early.errors.contains("is in use by another concord"))
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
            #expect(await server.standardError().contains("\(folder)/mail/dunbar"))
            let names = try FileManager.default.contentsOfDirectory(atPath: folder + "/mail/dunbar")
            #expect(names.count == 1)
            let letter = try String(contentsOfFile: "\(folder)/mail/dunbar/\(names[0])", encoding: .utf8)
            let link = try #require(letter.firstMatch(of: #/http://localhost:\d+/api/verify-email/(\S+)/#))

            let promoted = try await concord("admin", "dunbar", "--promote", "alice", "--data", folder)
            #expect(promoted.status == 0, "\(promoted.errors)")
            #expect(promoted.output == "alice is an admin\n")
            let unknown = try await concord("admin", "dunbar", "--demote", "bob", "--data", folder)
            #expect(unknown.status == 64)
            #expect(unknown.errors.contains("There is no user bob"))
            #expect(try await concord("admin", "dunbar", "--promote", "a", "--data", folder + "/x").status == 64)

            server = try await serving(folder, port: port)
            try await dunbar.send(Dunbar.VerifyEmail(token: String(link.output.1)))
            let me = try await dunbar.currentUser()
            #expect(me?.isAdmin == true)
            #expect(me?.emailVerified == true)
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }

    @Test(arguments: [["--smtp", "mail.example.com"], ["--smtp", "smtp://user@mail.example.com"]])
    func aMailServerThatIsNoneIsRefused(_ arguments: [String]) async throws {
        let process = try ConcordProcess(["serve", "dunbar", "--data", "/nonexistent"] + arguments)
        #expect(await process.status() == 64)
        #expect(await process.standardError().contains("--smtp is smtps://"))
    }
}
