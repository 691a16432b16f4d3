@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import MonicaClient

/// Scenarios of the archive with all that the server keeps of an account.
extension MonicaScenarios {
    static let archive: [Scenario<MonicaWorld>] = [
        Scenario("A person downloads an archive of their data, in parts too", clause: "POST /me/archive") { world in
            let (owner, other) = (try await world.spareOwner(), try await world.spareOwner())
            try await ArchiveChecks(at: "/me/archive", isSnakeCase: true, isWrapped: true).check(owner, unlike: other)
        }
    ]
}
