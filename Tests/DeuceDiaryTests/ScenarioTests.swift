import ContractCheck
import DeuceDiaryCheck
import Testbed
import Testing

/// The contract's scenarios pass on every stack. Each test has a server of its own.
@Suite(.timeLimit(.minutes(30))) struct DeuceDiaryScenarioTests {
    @Test(arguments: Stack.all, DeuceDiaryScenarios.all)
    func holds(_ stack: Stack, _ scenario: Scenario<DeuceDiaryWorld>) async throws {
        try await withDeuceDiary(on: stack, clock: TestClock(step: 20)) { host in
            try await scenario.run(host.world())
        }
    }
}
