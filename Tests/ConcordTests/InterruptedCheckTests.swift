import Foundation
import Testbed
import Testing

/// `concord check` reports at once when it is interrupted, whatever the server does.
@Suite(.timeLimit(.minutes(30))) struct InterruptedCheckTests {
    /// The server stands still, so that neither a scenario nor cleaning up gets an answer. A second interruption ends the
    /// run; otherwise it ends when the time for cleaning up is over.
    @Test(
        arguments: ["messenger", "deuce-diary", "monica", "gtsd", "dunbar"].map { ($0, true) }
            + [("monica", false), ("dunbar", false)])
    func aRunReportsAlthoughTheServerStandsStill(_ api: String, _ isInterruptedAgain: Bool) async throws {
        try await withTemporaryFolder { folder in
            let (data, port) = (["--data", folder + "/data"], try await reservePort())
            let server = try ConcordProcess(["serve", api, "--port", "\(api)=\(port)"] + data)
            try await server.waitUntilReady()
            let path = ["monica", "dunbar"].contains(api) ? "/api" : ""
            let arguments =
                ["check", api, "http://127.0.0.1:\(port)\(path)"] + (try await Self.credentials(for: api, data))
            let check = try await Self.interrupted(arguments, server)
            try await check.waitForErrors("cleaning up for 5 s at most")
            if isInterruptedAgain { check.signal(SIGINT) }
            #expect(await check.status() == 130)
            server.signal(SIGCONT)
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }

    /// Returns a check that was interrupted while the server stood still. On a busy machine it may have ended before: then
    /// there is another one.
    private static func interrupted(_ arguments: [String], _ server: ConcordProcess) async throws -> ConcordProcess {
        var attempt = 0
        while true {
            attempt += 1
            let check = try ConcordProcess(arguments)
            // The first scenario has ended, and others are running.
            try await check.waitForErrors("1/")
            server.signal(SIGSTOP)
            check.signal(SIGINT)
            do {
                try await check.wait { $0.contains("Ended early: interrupted.") }
                return check
            } catch let error as ConcordProcess.Ended where error.status == 0 && attempt < 20 {
                server.signal(SIGCONT)
            }
        }
    }

    private static func credentials(for api: String, _ data: [String]) async throws -> [String] {
        switch api {
        case "deuce-diary": return data
        case "monica":
            let made = try ConcordProcess(["monica", "token", "create", "--account", "a"] + data)
            let token = await made.wholeOutput().trimmingCharacters(in: .newlines)
            #expect(await made.status() == 0)
            return ["--token", token]
        default: return []
        }
    }
}
