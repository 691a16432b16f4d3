import ContractCheck
import Foundation
import Testbed
import Testing

/// `concord check` ends with a report, whatever a server answers.
@Suite(.timeLimit(.minutes(30))) struct SpoiledServerTests {
    private static let apis = ["messenger", "deuce-diary", "monica", "gtsd", "dunbar"]

    /// Every scenario runs against a server that spoils every answer.
    @Test func everySpoiledServerGetsAReport() async throws {
        try await withTemporaryFolder { folder in
            let data = ["--data", folder + "/data"]
            var ports: [String: Int] = [:]
            for api in Self.apis { ports[api] = try await reservePort() }
            let server = try ConcordProcess(
                ["serve"] + data + ports.flatMap { ["--port", "\($0)=\($1)"] })
            try await server.waitUntilReady()
            var tokens: [String] = []
            for account in ["a", "b"] {
                let made = try ConcordProcess(["monica", "token", "create", "--account", account] + data)
                tokens.append(await made.wholeOutput().trimmingCharacters(in: .newlines))
                #expect(await made.status() == 0)
            }
            let own = ["monica": tokens.flatMap { ["--token", $0] }, "deuce-diary": data]
            let bases = try ports.reduce(into: [String: URL]()) { urls, api in
                urls[api.key] = try #require(URL(string: "http://127.0.0.1:\(api.value)"))
            }
            try await SpoilingServer.run(bases) { port in
                let all = Self.apis.flatMap { api in Spoiling.allCases.map { (api, $0) } }
                // One API for each way, and all in `make torture`.
                let runs = all.enumerated().filter { Torture.isOn || $0.offset % 6 == 0 }.map(\.element)
                let lines = try await together(runs.count, width: 3) { index in
                    let (api, spoiling) = runs[index]
                    let path = ["monica": "/api", "dunbar": "/api"][api] ?? ""
                    return try await Self.check(
                        api, "http://127.0.0.1:\(port)/\(spoiling)/\(api)\(path)", own[api] ?? [], spoiling)
                }
                print(lines.joined(separator: "\n"))
            }
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }

    /// Runs one check.
    ///
    /// - Returns: A line of the table.
    private static func check(
        _ api: String, _ url: String, _ more: [String], _ spoiling: Spoiling
    ) async throws -> String {
        let process = try ConcordProcess(
            ["check", api, url, "--format", "json", "--parallel", "8", "--timeout", "5"] + more)
        let output = await process.wholeOutput()
        let status = await process.status()
        let errors = await process.standardError()
        // 2: the checker sees at once that no server of this API answers there.
        if status == 2, output.isEmpty {
            #expect(errors.contains("http://"), "\(api) \(spoiling): \(errors)")
            return "\(api) \(spoiling): no server of the API"
        }
        #expect([0, 1, 2].contains(status), "\(api) \(spoiling): \(status) \(errors.suffix(500))")
        guard let report = try? JSONDecoder().decode(Report.self, from: Data(output.utf8)) else {
            Issue.record("\(api) \(spoiling): no report: \(output.prefix(200)) \(errors.suffix(500))")
            return ""
        }
        let line =
            "\(api) \(spoiling): \(report.passed) passed, \(report.failed) failed, \(report.skipped) skipped, "
            + "\(Int(report.seconds)) s"
        FileHandle.standardError.write(Data((line + "\n").utf8))
        return line
    }
}
