import ContractCheck
import MessengerCheck
import Testbed
import Testing

/// The contract's scenarios pass on every stack. Each test has a server of its own.
@Suite(.timeLimit(.minutes(30))) struct ScenarioTests {
    @Test(arguments: Stack.all, MessengerScenarios.all + MessengerScenarios.operated)
    func holds(_ stack: Stack, _ scenario: Scenario<MessengerWorld>) async throws {
        try await withMessenger(on: stack, clock: TestClock(step: 20)) { host in
            try await scenario.run(host.world())
        }
    }
}
