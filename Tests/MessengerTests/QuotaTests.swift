import Contract
import ContractClient
import HTTPTypes
import MessengerCheck
import MessengerClient
import MessengerService
import Testbed
import Testing

/// What one user may store.
@Suite struct QuotaTests {
    /// Each upload alone would fit beside one other.
    @Test(arguments: Stack.Engine.available)
    func uploadsAtOnceDoNotPassTheQuotaTogether(_ engine: Stack.Engine) async throws {
        var settings = MessengerService.Settings()
        settings.storageQuota = 100
        try await withMessenger(on: Stack(engine, .inProcess), settings: settings) { host in
            let world = MessengerWorld(baseURL: host.baseURL, transport: host.transport, sockets: host.sockets)
            let person = try await world.person()
            let refusals: [APIError] = await withTaskGroup(of: APIError?.self) { group in
                for index in 0..<10 {
                    group.addTask {
                        let file = Upload(.bytes(Array(repeating: 65, count: 40)), filename: "\(index).txt")
                        do {
                            _ = try await person.client.upload(file)
                            return nil
                        } catch {
                            return error as? APIError
                        }
                    }
                }
                return await group.reduce(into: []) { if let refusal = $1 { $0.append(refusal) } }
            }
            #expect(refusals.count == 8)
            #expect(refusals.allSatisfy { $0.status == .contentTooLarge && $0.message == "Storage quota exceeded" })
        }
    }
}
