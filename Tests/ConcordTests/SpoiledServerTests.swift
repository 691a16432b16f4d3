import ContractCheck
import Foundation
import Testbed
import Testing

/// `concord check` ends with a report, whatever a server answers.
@Suite(.timeLimit(.minutes(Torture.minutes))) struct SpoiledServerTests {
    private static let apis = ["messenger", "deuce-diary", "monica", "gtsd", "dunbar"]
    /// `CONCORD_SPOILED`: a part of `API SPOILING`, such as `monica` or `gtsd huge`, for some of the runs.
    private static let part = ProcessInfo.processInfo.environment["CONCORD_SPOILED"]

    /// Every scenario runs against a server that spoils every answer.
    @Test func everySpoiledServerGetsAReport() async throws {
        try await withTemporaryFolder { folder in
            let data = ["--data", folder + "/data"]
            var ports: [String: Int] = [:]
            for api in Self.apis { ports[api] = try await reservePort() }
            let server = try ConcordProcess(
                ["serve"] + data + ports.flatMap { ["--port", "\($0)=\($1)"] })
            try await server.waitUntilReady()
            let bases = try ports.reduce(into: [String: URL]()) { urls, api in
                urls[api.key] = try #require(URL(string: "http://127.0.0.1:\(api.value)"))
            }
            try await SpoilingServer.run(bases) { port in
                let all = Self.apis.flatMap { api in Spoiling.allCases.map { (api, $0) } }
                // Some of each API, and all in `make torture`. A remainder by the length of an empty list has ended a run once.
                let runs = all.enumerated().filter { offset, run in
                    Self.part.map("\(run.0) \(run.1)".contains)
                        ?? (Torture.isOn || offset % 8 == 0 || run == ("gtsd", .emptyLists))
                }.map(\.element)
                let lines = try await together(runs.count, width: 3) { index in
                    let (api, spoiling) = runs[index]
                    let path = ["monica": "/api", "dunbar": "/api"][api] ?? ""
                    return try await Self.check(
                        api, "http://127.0.0.1:\(port)/\(spoiling)/\(api)\(path)",
                        try await Self.credentials(for: api, data), spoiling)
                }
                print(
                    "| API | Spoiled | Passed | Failed | Causes | Skipped | Not tried | Exit code | Seconds |\n"
                        + "|---|---|---|---|---|---|---|---|---|\n" + lines.joined(separator: "\n"))
            }
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }

    /// Returns the options with what a run's people sign in with. A token of Monica's may ask a hundred times a minute, so
    /// each run has its own.
    private static func credentials(for api: String, _ data: [String]) async throws -> [String] {
        guard api == "monica" else { return api == "deuce-diary" ? data : [] }
        var tokens: [String] = []
        for account in ["a", "a", "a", "b"] {
            let made = try ConcordProcess(["monica", "token", "create", "--account", account] + data)
            tokens.append(await made.wholeOutput().trimmingCharacters(in: .newlines))
            #expect(await made.status() == 0)
        }
        return tokens.flatMap { ["--token", $0] }
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
            return logged("| \(api) | \(spoiling) | | | | | | 2 | |")
        }
        let crash = errors.range(of: "Fatal error").map { errors[$0.lowerBound...].prefix(2000) } ?? ""
        #expect([0, 1, 2].contains(status), "\(api) \(spoiling): \(status) \(crash) \(errors.suffix(500))")
        guard let report = try? JSONDecoder().decode(Report.self, from: Data(output.utf8)) else {
            Issue.record("\(api) \(spoiling): no report: \(output.prefix(200)) \(errors.suffix(500))")
            return logged("| \(api) | \(spoiling) | | | | | | \(status) | |")
        }
        let grouped = report.causes.map(\.scenarios.count)
        let notTried = report.clauses.reduce(0) { $0 + $1.notTried }
        let numbers = [
            report.passed, report.failed, report.failed - grouped.reduce(0, +) + grouped.count, report.skipped,
            notTried,
            Int(status), Int(report.seconds),
        ]
        return logged("| \(api) | \(spoiling) | \(numbers.map(String.init).joined(separator: " | ")) |")
    }

    /// Shows a line as soon as it is known: the long form takes its time.
    private static func logged(_ line: String) -> String {
        FileHandle.standardError.write(Data((line + "\n").utf8))
        return line
    }
}
