import ContractCheck
import MonicaCheck
import MonicaExamples
import Testbed
import Testing

/// The checker is useful: for servers that break one promise each, some scenario that uses the operation fails.
@Suite(.timeLimit(.minutes(30))) struct MonicaMutantTests {
    /// The mutants that a run of the checker cannot notice, each with the reason.
    static let survivors: [String: String] = [:]

    /// The mutants whose outcome is known. The other derived ones join them as they are tried.
    private static func tried() throws -> [Mutant] {
        let file = StockTools.package + "/Tests/MutantGaps/Monica-tried.txt"
        let names = Set(try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map(String.init))
        let all = Mutant.derived(from: MonicaExamples.all, lists: false) + Mutant.monica
        return all.filter { names.contains($0.description) }
    }

    @Test func theCheckerNoticesEveryMutant() async throws {
        try await MutantRun(
            "Monica", try Self.tried(), survivors: Self.survivors, scenarios: MonicaScenarios.all,
            examples: MonicaExamples.all
        ) { route, body in
            try await withMonica(on: Stack(.sqlite, .inProcess), clock: TestClock(step: 20)) { host in
                let server = route.server(host.baseURL, host.transport, host.sockets)
                try await body(MonicaWorld(server) { try await host.token("account \($0 ?? 0)") })
            }
        }.run()
    }
}
