import ContractCheck
import MonicaCheck
import Testbed
import Testing

/// The contract's scenarios pass on every stack. Each test has a server of its own.
@Suite(.timeLimit(.minutes(30))) struct MonicaScenarioTests {
    @Test(arguments: Stack.all, MonicaScenarios.all)
    func holds(_ stack: Stack, _ scenario: Scenario<MonicaWorld>) async throws {
        try await withMonica(on: stack, clock: TestClock(step: 20)) { host in
            try await scenario.run(host.world())
        }
    }
}
