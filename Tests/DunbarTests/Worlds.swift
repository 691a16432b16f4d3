import ContractCheck
import ContractClient
import DunbarCheck
import DunbarService
import Testbed

extension DunbarHost {
    /// - Parameter coverage: Records the examples that the world's scenarios have seen.
    func world(_ coverage: Coverage? = nil) -> DunbarWorld {
        var server = Server(baseURL: baseURL, transport: transport, sockets: sockets)
        server.coverage = coverage
        return DunbarWorld(
            server,
            operator: .init(
                promote: { [database] name in
                    guard try await DunbarService.setAdmin(true, name, in: database, audit: .test) else {
                        throw CheckFailure("no \(name)")
                    }
                },
                emails: { [service, mailbox] address in
                    try await service.sendDueEmails()
                    return mailbox.emails.filter { $0.to == address }.map(\.text)
                }))
    }
}
