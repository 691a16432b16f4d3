import ContractCheck

extension MessengerScenarios {
    /// The scenarios of `concord check messenger`.
    public static let checklist = Checklist(
        api: "messenger", scenarios: all, probe: "/me",
        isLimited: { $0.method == .post && $0.url.path.hasSuffix("/auth/register") },
        enter: { server in
            let ledger = Ledger(server.transport)
            var own = server
            own.transport = ledger
            return (MessengerWorld(own), { .init(await ledger.settle(at: server.baseURL)) })
        })
}
