import ContractCheck
import ContractClient
import DunbarCheck
import DunbarClient
import DunbarTestHost
import Foundation
import Testbed
import Testing

/// Dunbar works as an operator runs it, with the real image helper and its own mailbox.
@Suite(.timeLimit(.minutes(30))) struct DunbarCommandTests {
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

    /// The server's password hashing is cheap, because some scenarios make many accounts.
    @Test func aCheckPassesAndLeavesNoSession() async throws {
        try await withDunbar(on: Stack(.sqlite, .live), .init(clock: TestClock(step: 20))) { host in
            let (output, _) = try await passingCheck(
                ["dunbar", host.baseURL.absoluteString], scenarios: DunbarScenarios.all.count)
            let (sessions, users) = try await host.database.read { db in
                (
                    try db.value("SELECT COUNT(*) FROM sessions", as: Int.self) ?? -1,
                    try db.value("SELECT COUNT(*) FROM users", as: Int.self) ?? -1
                )
            }
            #expect(sessions == 0)
            // Accounts are deleted with all their data.
            #expect(users == 0 && !output.contains("Left on the server"), "\(output)")
        }
    }

    /// The server uses real pictures and real password hashing.
    @Test func theCommandsOwnServerIsCheckedThroughItsPort() async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let server = try await serving(folder, port: port)
            #expect(server.standardOutput.contains("dunbar       http://127.0.0.1:\(port)/api\n"))
            let (status, output, errors) = try await concord(
                "check", "dunbar", "http://127.0.0.1:\(port)/api", "--only", "a photo has", "--only",
                "an invalid photo",
                "--only", "media keep", "--only", "a repeat under one key", "--only", "health", "--only",
                "the sdk signs in", "--timeout", "300")
            #expect(status == 0, "\(output)\(errors)")
            #expect(output.contains("7 scenarios: 7 passed, 0 failed, 0 skipped, in "), "\(output)")
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }

    @Test func anOperatorMakesAdminsAndReadsTheEmails() async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let url = try #require(URL(string: "http://127.0.0.1:\(port)/api"))
            let store = MemoryCookieStore()
            var server = try await serving(folder, port: port)
            let dunbar = DunbarClient(baseURL: url, store: store, transport: .patient, retry: .never)
            try await dunbar.register(
                .init(username: "Alice", email: "alice@example.com", password: "secret123", displayName: "Alice"))
            // The command asks the running server to do it.
            let early = try await concord("dunbar", "promote", "alice", "--data", folder)
            #expect(early.status == 0, "\(early.errors)")
            #expect(early.output == "alice is an admin\n")
            #expect(try await dunbar.currentUser()?.isAdmin == true)
            let demoted = try await concord("dunbar", "demote", "Alice", "--data", folder)
            #expect(demoted.output == "Alice is no longer an admin\n")
            try await lookUntil { FileManager.default.fileExists(atPath: folder + "/mail/dunbar") }
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
            #expect(await server.standardError().contains("\(folder)/mail/dunbar"))
            let names = try FileManager.default.contentsOfDirectory(atPath: folder + "/mail/dunbar")
            #expect(names.count == 1)
            let email = try String(contentsOfFile: "\(folder)/mail/dunbar/\(names[0])", encoding: .utf8)
            let link = try #require(email.firstMatch(of: #/http://localhost:\d+/api/verify-email/(\S+)/#))

            let promoted = try await concord("dunbar", "promote", "alice", "--data", folder)
            #expect(promoted.status == 0, "\(promoted.errors)")
            #expect(promoted.output == "alice is an admin\n")
            let unknown = try await concord("dunbar", "demote", "bob", "--data", folder)
            #expect(unknown.status == 1)
            #expect(unknown.errors == "Error: There is no user bob\n")
            #expect(try await concord("dunbar", "promote", "a", "--data", folder + "/x").status == 1)

            server = try await serving(folder, port: port)
            try await dunbar.send(Dunbar.VerifyEmail(token: String(link.output.1)))
            let me = try await dunbar.currentUser()
            #expect(me?.isAdmin == true)
            #expect(me?.emailVerified == true)
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }

    /// The server is killed while an e-mail waits. The next start sends the e-mail.
    @Test func anEmailOutlastsTheServer() async throws {
        try await withTemporaryFolder { folder in
            let (port, nobody) = (try await reservePort(), try await reservePort())
            let url = try #require(URL(string: "http://127.0.0.1:\(port)/api"))
            var server = try await serving(folder, port: port)
            let dunbar = DunbarClient(baseURL: url, transport: .patient, retry: .never)
            try await dunbar.register(
                .init(username: "Alice", email: "alice@example.com", password: "secret123", displayName: "Alice"))
            let mailbox = URL(fileURLWithPath: folder + "/mail/dunbar")
            try await lookUntil { FileManager.default.fileExists(atPath: mailbox.path) }
            server.signal(SIGTERM)
            #expect(await server.status() == 0)

            server = try await serving(folder, port: port, "--smtp", "smtp://127.0.0.1:\(nobody)?tls=none")
            try await dunbar.send(Dunbar.ForgotPassword(email: "alice@example.com"))
            // The e-mail was tried once, and is not tried again for two seconds.
            try await server.waitForLog { $0.contains("an e-mail was not sent") }
            server.signal(SIGKILL)
            _ = await server.status()

            server = try await serving(folder, port: port)
            var code: String?
            try await lookUntil {
                code = try Self.emails(in: mailbox).compactMap { email in
                    email.firstMatch(of: #/\n([A-Za-z0-9_-]{43})\n/#).map { String($0.output.1) }
                }.first
                return code != nil
            }
            try await dunbar.send(
                Dunbar.ResetPassword(token: try #require(code), newPassword: "another password"))
            try await dunbar.signIn(username: "alice", password: "another password")
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }

    private static func emails(in folder: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "eml" }
            .map { try String(contentsOf: $0, encoding: .utf8).replacingOccurrences(of: "\r\n", with: "\n") }
    }

    /// Polls for a condition: a test is not notified of another process's files.
    private func lookUntil(_ isThere: () throws -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(900)
        while try !isThere() {
            try #require(ContinuousClock.now < deadline, "it never came")
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    @Test(arguments: [["--smtp", "mail.example.com"], ["--smtp", "smtp://user@mail.example.com"]])
    func anInvalidMailServerIsRefused(_ arguments: [String]) async throws {
        let process = try ConcordProcess(["serve", "dunbar", "--data", "/nonexistent"] + arguments)
        #expect(await process.status() == 64)
        #expect(await process.standardError().contains("--smtp must be smtps://"))
    }
}
