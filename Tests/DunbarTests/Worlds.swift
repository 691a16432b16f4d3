import ContractCheck
import ContractClient
import DunbarAPI
import DunbarCheck
import DunbarExamples
import DunbarService
import Testbed

extension DunbarHost {
    /// - Parameter coverage: Records the examples that the world's scenarios have seen.
    func world(_ coverage: Coverage? = nil) -> DunbarWorld {
        let described = DescribedTransport(transport, sockets, baseURL: baseURL, Described.api)
        var server = Server(baseURL: baseURL, transport: described, sockets: described)
        server.coverage = coverage
        return DunbarWorld(server, operator: `operator`)
    }

    /// The server's operator, who makes admins and reads e-mails for scenarios.
    var `operator`: DunbarWorld.Operator {
        .init(
            promote: { [database] name in
                guard try await DunbarService.setAdmin(true, name, in: database, audit: .test) else {
                    throw CheckFailure("no \(name)")
                }
            },
            emails: { [service, mailbox] address in
                try await service.sendDueEmails()
                return mailbox.emails.filter { $0.to == address }.map(\.text)
            })
    }
}

/// The API's description, which every answer to a scenario is held to.
enum Described {
    static let api = SharedDescription(Dunbar.self, title: "Dunbar", examples: DunbarExamples.all)
}
