import ContractCheck
import Foundation
import Testbed
import Testing

/// `concord check` judges a server that shares no code with Concord: `Tests/OtherServer/messenger.py`, which was written
/// from the published contract and makes one mistake when a test asks for it.
@Suite(.timeLimit(.minutes(30)), .enabled(if: StockTools.python != nil, "`make test` sets CONCORD_PYTHON"))
struct OtherServerTests {
    private static let script = StockTools.package + "/Tests/OtherServer/messenger.py"

    @Test func aServerOfAnotherHandPasses() async throws {
        let report = try await Self.report(on: nil)
        #expect(report.failed == 0, "\(report.text)")
        #expect(report.passed >= 17, "\(report.text)")
    }

    @Test func eachMistakeIsFoundAndNothingElse() async throws {
        let (status, output) = try await StockTools.run(try #require(StockTools.python), [Self.script, "--mistakes"])
        #expect(status == 0)
        let mistakes = try JSONDecoder().decode([String: [String]].self, from: Data(output.utf8))
        #expect(mistakes.count >= 10)
        let names = mistakes.keys.sorted()
        let found = try await together(names.count, width: 4) { try await Self.report(on: names[$0]) }
        for (name, report) in zip(names, found) {
            let broken = report.clauses.filter { $0.outcome == .failed }.map(\.clause)
            #expect(broken == mistakes[name], "A server that \(name): \(report.text)")
        }
    }

    /// Checks the server.
    ///
    /// - Parameter mistake: The promise that it breaks.
    private static func report(on mistake: String?) async throws -> Report {
        let python = try #require(StockTools.python)
        let server = try ConcordProcess([script] + [mistake].compactMap(\.self), executable: python)
        try await server.wait { $0.hasSuffix("\n") }
        let port = try #require(server.standardOutput.split(whereSeparator: \.isWhitespace).last)
        let check = try ConcordProcess([
            "check", "messenger", "http://127.0.0.1:\(port)", "--level", "contract", "--format", "json", "--timeout",
            "60",
        ])
        let output = await check.wholeOutput()
        let (status, errors) = (await check.status(), await check.standardError())
        #expect([0, 1].contains(status), "\(errors)")
        // The server inherits the tests' signal mask, in which SIGTERM is blocked.
        server.signal(SIGKILL)
        _ = await server.status()
        return try JSONDecoder().decode(Report.self, from: Data(output.utf8))
    }
}
