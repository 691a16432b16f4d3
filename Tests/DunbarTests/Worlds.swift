import ContractCheck
import ContractClient
import DunbarCheck
import DunbarService
import Testbed

extension DunbarHost {
    func world() -> DunbarWorld {
        DunbarWorld(
            Server(baseURL: baseURL, transport: transport, sockets: sockets),
            operator: .init(
                promote: { [database] name in
                    guard try await DunbarService.setAdmin(true, name, in: database) else { throw Broken("no \(name)") }
                },
                letters: { [service, mailbox] address in
                    try await service.sendDueEmails()
                    return mailbox.letters.filter { $0.to == address }.map(\.text)
                }))
    }
}
