@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import MessengerClient

/// Scenarios of the archive with all that the server keeps of a person.
extension MessengerScenarios {
    static let archive: [Scenario<MessengerWorld>] = [
        Scenario("A person downloads an archive of their data, in parts too", clause: "POST /me/archive") {
            _, alice, bob in
            try await ArchiveChecks(at: "/me/archive", isSnakeCase: true).check(alice, unlike: bob)
        }
    ]
}
