import ContractCheck
import ContractClient
import Foundation
import MonicaCheck
import MonicaClient
import NIOSockets
import Testbed

extension MonicaHost {
    func world() -> MonicaWorld {
        MonicaWorld(Server(baseURL: baseURL, transport: transport, sockets: NIOSocketTransport())) { account in
            try await token("account \(account)")
        }
    }

    func client(_ account: String = "first") async throws -> MonicaAPIClient {
        MonicaAPIClient(
            configuration: APIConfiguration(baseURL: baseURL, token: try await token(account), retryCount: 0),
            transport: transport)
    }
}
