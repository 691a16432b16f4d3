@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import GTSDClient

/// Scenarios of the archive with all that the server keeps of a person.
extension GTSDScenarios {
    static let archive: [Scenario<GTSDWorld>] = [
        Scenario("A person downloads an archive of their data, in parts too", clause: "POST /auth/me/archive") {
            _, anna, ben in
            try await ArchiveChecks(at: "/auth/me/archive", isWrapped: true).check(anna, unlike: ben)
        }
    ]
}
