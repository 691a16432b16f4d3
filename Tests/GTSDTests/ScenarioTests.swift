import ContractCheck
import GTSDCheck
import Testbed
import Testing

/// The contract's scenarios pass on every stack. Each test has a server of its own.
@Suite(.timeLimit(.minutes(30))) struct GTSDScenarioTests {
    @Test(arguments: Stack.all, GTSDScenarios.all + GTSDScenarios.operated)
    func holds(_ stack: Stack, _ scenario: Scenario<GTSDWorld>) async throws {
        try await withGTSD(on: stack, clock: TestClock(step: 2)) { host in
            try await scenario.run(host.world())
        }
    }
}
