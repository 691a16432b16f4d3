import Foundation
import Testbed
import Testing

/// `concord mail test` sends an e-mail with the server's settings.
@Suite(.timeLimit(.minutes(30))) struct MailCommandTests {
    private func run(
        _ arguments: [String], _ environment: [String: String] = [:]
    ) async throws -> (status: Int32, output: String, errors: String) {
        let process = try ConcordProcess(["mail", "test"] + arguments, environment: environment)
        let output = await process.wholeOutput()
        return (await process.status(), output, await process.standardError())
    }

    @Test(StockMailServer.isThere) func theMailServerTakesIt() async throws {
        try await StockMailServer.serving { server in
            let sent = try await run(
                ["anna@example.com", "--data", "/nonexistent"],
                ["CONCORD_SMTP": server.url, "CONCORD_MAIL_FROM": "concord@example.com"])
            #expect(sent.status == 0, "\(sent.errors)")
            #expect(
                sent.output
                    == "\(server.address) has taken the e-mail from concord@example.com to anna@example.com.\n")
            _ = try await server.letter("Test", to: "anna@example.com")
        }
    }

    @Test func whatIsWrongIsSaid() async throws {
        let port = try await reservePort()
        let away = try await run(
            ["anna@example.com", "--data", "/nonexistent", "--smtp", "smtp://127.0.0.1:\(port)?tls=none"])
        #expect(away.status == 1)
        #expect(away.errors.contains("127.0.0.1:\(port) cannot be reached"), "\(away.errors)")
        let none = try await run(["anna@example.com", "--data", "/nonexistent"])
        #expect(none.status == 1)
        let words = "no mail server is set, so e-mails are files in /nonexistent/mail"
        #expect(none.errors.contains(words), "\(none.errors)")
    }
}
