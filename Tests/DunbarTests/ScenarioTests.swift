import ContractCheck
import DunbarCheck
import Testbed
import Testing

/// The contract's scenarios pass on every stack. Each test has a server of its own.
@Suite(.timeLimit(.minutes(30))) struct DunbarScenarioTests {
    @Test(arguments: Stack.all, DunbarScenarios.all + DunbarScenarios.operated)
    func holds(_ stack: Stack, _ scenario: Scenario<DunbarWorld>) async throws {
        try await withDunbar(on: stack, .init(clock: TestClock(step: 20))) { host in
            try await scenario.run(host.world())
        }
    }

    /// Prints which user sees which parts of another user's profile.
    @Test(arguments: Stack.all)
    func theVisibilityTable(_ stack: Stack) async throws {
        try await withDunbar(on: stack) { host in
            let table = try await VisibilityTable.observed(in: host.world())
            print("Who sees what of whom (\(stack.testDescription)):\n\(table)")
            #expect(table.rows == VisibilityTable.expected.rows)
        }
    }
}
