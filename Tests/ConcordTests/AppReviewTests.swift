import ContractCheck
import DeuceDiaryCheck
import DunbarCheck
import Foundation
import GTSDCheck
import MessengerCheck
import MonicaCheck
import Testbed
import Testing

/// `docs/app-review.md` names scenarios and tests that there are. They hold the servers to what the page says.
@Suite(.timeLimit(.minutes(30))) struct AppReviewTests {
    private static let scenarios: [String: Set<String>] = [
        "messenger": names(of: MessengerScenarios.all), "dunbar": names(of: DunbarScenarios.all),
        "deuce-diary": names(of: DeuceDiaryScenarios.all), "gtsd": names(of: GTSDScenarios.all),
        "monica": names(of: MonicaScenarios.all),
    ]

    /// Returns the names of scenarios, whole and up to the first comma, and their clauses.
    private static func names<World>(of scenarios: [Scenario<World>]) -> Set<String> {
        Set(
            scenarios.flatMap { scenario in
                [scenario.name, scenario.name.prefix { $0 != "," }.description, scenario.clause]
            })
    }

    /// The names of the tests of this module: their texts, and their functions behind the suite's name.
    private static func tests() throws -> Set<String> {
        let folder = StockTools.package + "/Tests/ConcordTests"
        var names: Set<String> = []
        for file in try FileManager.default.contentsOfDirectory(atPath: folder) where file.hasSuffix("Tests.swift") {
            let text = try String(contentsOfFile: folder + "/" + file, encoding: .utf8)
            for match in text.matches(of: #/@Test\(\s*"([^"]+)"/#) { names.insert(String(match.1)) }
            for match in text.matches(of: #/func (\w+)\(/#) { names.insert("\(file.dropLast(6)).\(match.1)") }
        }
        return names
    }

    @Test func whatHoldsTheServersIsThere() throws {
        let page = try String(contentsOfFile: StockTools.package + "/docs/app-review.md", encoding: .utf8)
        let tests = try Self.tests()
        var count = 0
        for line in page.split(separator: "\n") where line.hasPrefix("|") {
            let proof = line.split(separator: "|").last?.trimmingCharacters(in: .whitespaces) ?? ""
            guard let colon = proof.firstIndex(of: ":") else { continue }
            let (kind, name) = (
                String(proof[..<colon]), proof[colon...].dropFirst().trimmingCharacters(in: .whitespaces)
            )
            let known = kind == "test" ? tests : Self.scenarios[kind]
            #expect(known?.contains(name) == true, "\(kind): \(name)")
            count += 1
        }
        #expect(count > 25)
    }
}
