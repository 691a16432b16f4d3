import Backend
import Contract
import ContractCheck
import ContractClient
import ContractServer
import Foundation
import Logging
import MessengerAPI
import MessengerCheck
import MessengerExamples
import MessengerService
import Testbed

extension MessengerHost {
    /// - Parameter coverage: Records the examples that the world's scenarios have seen.
    func world(_ coverage: Coverage? = nil) -> MessengerWorld {
        let described = DescribedTransport(transport, sockets, baseURL: baseURL, Described.api)
        var server = Server(baseURL: baseURL, transport: described, sockets: described)
        server.coverage = coverage
        return MessengerWorld(server, operator: `operator`)
    }

    /// The server's operator, who reads e-mails for scenarios.
    var `operator`: MessengerWorld.Operator {
        .init { [service, database, folder] address in
            try await service.sendDueEmails()
            // The node itself may be sending them at this moment. The clock, which a look at it moves on, is left alone.
            while try await database.read({ try $0.exists("SELECT 1 FROM email_outbox") }) {
                try await Task.sleep(for: .milliseconds(5))
            }
            return try emails(in: "\(folder)/mail/messenger", to: address)
        }
    }

    /// Returns the server as a client at an address sees it.
    func world(from peer: String) -> MessengerWorld { world(of: service, from: peer) }

    func world(of service: MessengerService, from peer: String) -> MessengerWorld {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let table = Router(
            service.routes(), options: .init(logger: logger) { Problem.unavailable($0, Messenger.errorMessages) })
        return MessengerWorld(baseURL: baseURL, transport: InProcessTransport(table, peer: peer), sockets: sockets)
    }
}

extension MessengerWorld {
    func signIn(_ name: String, _ password: String) async throws -> RawAnswer {
        try await raw.send(.post, "/auth/login", body: #"{"username":"\#(name)","password":"\#(password)"}"#)
    }

    func register(_ name: String) async throws -> RawAnswer {
        let body = #"{"username":"\#(name)","email":"\#(freshName())@example.com","password":"12345678"}"#
        return try await raw.send(.post, "/auth/register", body: body)
    }
}

func time(_ text: String) -> Messenger.Timestamp {
    guard let time = Messenger.Timestamp(text) else { preconditionFailure("no time: \(text)") }
    return time
}

extension Person {
    /// The user's session in the form in which a device stores it.
    var tokens: StoredTokens {
        StoredTokens(
            accessToken: token, refreshToken: refreshToken, expiresAt: .distantFuture, user: id.description)
    }
}

/// The API's description, which every answer to a scenario is held to.
enum Described {
    static let api = SharedDescription(Messenger.self, title: "Messenger", examples: MessengerExamples.all)
}
