@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import DeuceDiaryClient

/// Scenarios of the archive with all that the server keeps of a person.
extension DeuceDiaryScenarios {
    static let archive: [Scenario<DeuceDiaryWorld>] = [
        Scenario("A person downloads an archive of their data, in parts too", clause: "POST /api/auth/user/archive") {
            _, john, jane in
            try await ArchiveChecks(at: "/api/auth/user/archive", accepted: 200).check(john, unlike: jane)
        }
    ]
}
