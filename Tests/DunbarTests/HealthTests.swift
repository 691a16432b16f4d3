import Contract
import ContractCheck
import DunbarAPI
import Foundation
import Testbed
import Testing

/// The health check reports the state of the server, and changes nothing.
@Suite(.timeLimit(.minutes(30))) struct DunbarHealthTests {
    @Test(arguments: Stack.Engine.available)
    func aStoreThatIsGoneIsAnError(_ engine: Stack.Engine) async throws {
        try await withDunbar(on: Stack(engine, .live)) { host in
            let raw = RawClient(baseURL: host.baseURL, transport: host.transport)
            #expect(try await raw.send(.get, "/storage/health").status == 200)
            try FileManager.default.removeItem(atPath: host.folder + "/files")
            let answer = try await raw.send(.get, "/storage/health")
            #expect(answer.status == 503)
            let body = try answer.json()
            #expect(body["status"] == "unhealthy")
            #expect(body["message"] == "Service unavailable")
            #expect(
                body["components"] == ["server": "healthy", "database": "healthy", "storage": "error"])
            #expect(!FileManager.default.fileExists(atPath: host.folder + "/files"))
        }
    }

    @Test(arguments: Stack.Engine.available)
    func aDatabaseThatIsGoneIsAnError(_ engine: Stack.Engine) async throws {
        try await withDunbar(on: Stack(engine, .inProcess)) { host in
            let raw = RawClient(baseURL: host.baseURL, transport: host.transport)
            try await host.database.close()
            let answer = try await raw.send(.get, "/storage/health")
            #expect(answer.status == 503)
            #expect(try answer.json()["components"]?["database"] == "error")
            #expect(try answer.json()["components"]?["storage"] == "healthy")
        }
    }

    @Test func itLeavesNothingBehind() async throws {
        try await withDunbar(on: Stack(.sqlite, .inProcess)) { host in
            let raw = RawClient(baseURL: host.baseURL, transport: host.transport)
            func files() -> [String: Date] {
                var found: [String: Date] = [:]
                for case let name as String in FileManager.default.enumerator(atPath: host.folder + "/files") ?? .init()
                {
                    let attributes = try? FileManager.default.attributesOfItem(atPath: host.folder + "/files/" + name)
                    found[name] = attributes?[.modificationDate] as? Date
                }
                return found
            }
            let before = files()
            for _ in 0..<10 {
                let status = try await raw.send(.get, "/storage/health").status
                #expect(status == 200)
            }
            #expect(files() == before)
        }
    }
}
