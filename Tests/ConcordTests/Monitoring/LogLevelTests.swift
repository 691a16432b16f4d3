import ContractClient
import Foundation
import Testbed
import Testing

/// The level of log lines changes while a server runs.
@Suite(.timeLimit(.minutes(30))) struct LogLevelTests {
    private func ask(_ port: Int, _ id: String) async throws {
        var request = TransportRequest(method: .get, url: URL(string: "http://127.0.0.1:\(port)/health")!)
        request.headers[.requestID] = id
        #expect(try await URLSessionTransport.patient.send(request, progress: nil).status == .ok)
    }

    private func reload(_ server: ConcordProcess, _ file: String, _ level: String?, until words: String) async throws {
        if let level {
            try (level + "\n").write(toFile: file, atomically: true, encoding: .utf8)
        } else {
            try FileManager.default.removeItem(atPath: file)
        }
        server.signal(SIGHUP)
        try await server.waitForLog { $0.contains(words) }
    }

    @Test func aFileChangesTheLevelOnSIGHUP() async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let file = folder + "/log-level"
            let server = try await ConcordProcess.serving(data: folder, port: port, more: ["--log-level", "warning"])
            try await ask(port, "before")
            try await reload(server, file, "info", until: "log-level=info")
            try await ask(port, "during")
            // What is no level changes nothing.
            try await reload(server, file, "loud", until: "this is not a log level")
            try await ask(port, "still")
            try await reload(server, file, nil, until: "log-level=warning")
            try await ask(port, "after")
            try await reload(server, file, "error", until: "log-level=error")
            server.signal(SIGTERM)
            #expect(await server.status() == 0)

            // The file counts at a start, too.
            try "info".write(toFile: file, atomically: true, encoding: .utf8)
            let second = try await ConcordProcess.serving(data: folder, port: port, more: ["--log-level", "warning"])
            try await ask(port, "second")
            second.signal(SIGTERM)
            #expect(await second.status() == 0)

            let (log, later) = (await server.standardError(), await second.standardError())
            for (id, isLogged) in [("before", false), ("during", true), ("still", true), ("after", false)] {
                #expect(log.contains("request=\(id) ") == isLogged, "\(log)")
            }
            #expect(later.contains("request=second "), "\(later)")
        }
    }
}
