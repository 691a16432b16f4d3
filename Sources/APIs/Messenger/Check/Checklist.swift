@_spi(Scenarios) import CheckedLists
import ContractCheck

extension MessengerScenarios {
    /// The scenarios of `concord check messenger`.
    public static let checklist = Checklist(
        api: "messenger", scenarios: all, probe: "/me",
        isLimited: { $0.method == .post && $0.url.path.hasSuffix("/auth/register") },
        entering: { server in
            let created = CreatedResources(server.transport)
            var own = server
            own.transport = created
            return (
                MessengerWorld(own),
                { .init(await created.cleanUp(at: server.baseURL, keepingAccounts: $0)) }
            )
        })
}
