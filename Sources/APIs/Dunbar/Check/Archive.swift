@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import DunbarClient

/// Scenarios of the archive with all that the server keeps of a person.
extension DunbarScenarios {
    static let archive: [Scenario<DunbarWorld>] = [
        Scenario("A person downloads an archive of their data, in parts too", clause: "POST /account/archive") {
            _, anna, ben in
            try await ArchiveChecks(at: "/account/archive").check(anna, unlike: ben)
        }
    ]
}
