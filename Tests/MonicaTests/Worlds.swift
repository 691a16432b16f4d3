import ContractCheck
import ContractClient
import Foundation
import MonicaAPI
import MonicaCheck
import MonicaClient
import MonicaExamples
import MonicaService
import NIOSockets
import Testbed

extension MonicaHost {
    /// - Parameter coverage: Records the examples that the world's scenarios have seen.
    func world(_ coverage: Coverage? = nil) -> MonicaWorld {
        let described = DescribedTransport(transport, NIOSocketTransport(), baseURL: baseURL, Described.api)
        var server = Server(baseURL: baseURL, transport: described, sockets: described)
        server.coverage = coverage
        return MonicaWorld(
            server, spareToken: { try await token("spare \(UUID())") },
            token: { account in try await token("account \(account ?? 0)") })
    }

    func client(_ account: String = "first") async throws -> MonicaAPIClient {
        MonicaAPIClient(
            configuration: APIConfiguration(baseURL: baseURL, token: try await token(account), retryCount: 0),
            transport: transport)
    }

    /// Returns all data of an account, as `concord monica export` writes it.
    func export(of account: String) async throws -> Monica.Export {
        try JSONDecoder().decode(Monica.Export.self, from: Data(try await written(.json, of: account)))
    }

    func cards(of account: String) async throws -> String {
        String(decoding: try await written(.vcard, of: account), as: UTF8.self)
    }

    func written(_ format: MonicaService.ExportFormat, of account: String) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        let isThere = try await service.export(format, of: account, audit: .test) { bytes += $0 }
        return isThere ? bytes : []
    }
}

/// The API's description, which every answer to a scenario is held to.
enum Described {
    static let api = SharedDescription(Monica.self, title: "Monica", examples: MonicaExamples.all)
}
