import ContractCheck
import DeuceDiaryCheck
import DeuceDiaryExamples
import Testbed
import Testing

/// The checker is useful: for servers that break one promise each, the scenarios of that clause fail.
@Suite(.timeLimit(.minutes(Mutant.minutes))) struct DeuceDiaryMutantTests {
    @Test func theCheckerNoticesEveryMutant() async throws {
        try await MutantRun(
            "Deuce Diary", Mutant.deuceDiary, scenarios: DeuceDiaryScenarios.all, examples: DeuceDiaryExamples.all
        ) { route, body in
            try await withDeuceDiary(on: Stack(.sqlite, .inProcess), clock: TestClock(step: 20)) { host in
                try await body(
                    DeuceDiaryWorld(route.server(host.baseURL, host.transport, host.sockets), tokens: host.tokens))
            }
        }.run()
    }
}
