import ContractCheck

extension MessengerScenarios {
    static let live: [Scenario<MessengerWorld>] = []
}
