import ContractCheck

extension MessengerScenarios {
    static let idempotency: [Scenario<MessengerWorld>] = []
}
