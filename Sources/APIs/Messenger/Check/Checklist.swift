@_spi(Scenarios) import CheckedLists
import ContractCheck

extension MessengerScenarios {
    /// The scenarios of `concord check messenger`.
    package static let checklist = Checklist(
        api: "messenger", scenarios: all, probe: "/me",
        isLimited: { $0.method == .post && $0.url.path.hasSuffix("/auth/register") },
        noting: { CreatedResources() }, enter: { MessengerWorld($0) })
}
