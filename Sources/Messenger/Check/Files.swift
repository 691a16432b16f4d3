import ContractCheck

extension MessengerScenarios {
    static let files: [Scenario<MessengerWorld>] = []
}
