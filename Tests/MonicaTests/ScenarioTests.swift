import ContractCheck
import ContractClient
import MonicaCheck
import MonicaTestHost
import NIOSockets
import Testbed
import Testing

/// The contract's scenarios pass on every stack. Each test has a server of its own.
@Suite(.timeLimit(.minutes(30))) struct MonicaScenarioTests {
    @Test(arguments: Stack.all, MonicaScenarios.all)
    func holds(_ stack: Stack, _ scenario: Scenario<MonicaWorld>) async throws {
        try await withMonica(on: stack, clock: TestClock(step: 20)) { host in
            try await scenario.run(host.world())
        }
    }

    /// A token of Monica 4's dialect gets what apps of Monica 4 take for granted.
    @Test(arguments: Stack.all, Monica4Scenarios.all)
    func theDialectHolds(_ stack: Stack, _ scenario: Scenario<Monica4World>) async throws {
        try await withMonica(on: stack, clock: TestClock(step: 20)) { host in
            let token = try await host.token(dialect: .monica4)
            try await scenario.run(host.monica4(host.transport) { token })
        }
    }

    @Test func theContractIsNotTheDialect() async throws {
        try await withMonica(on: Stack(.sqlite, .inProcess), clock: TestClock(step: 20)) { host in
            let token = try await host.token()
            var broken: [String] = []
            for scenario in Monica4Scenarios.all {
                do { try await scenario.run(host.monica4(host.transport) { token }) } catch is CheckFailure {
                    broken.append(scenario.name)
                } catch is Skipped {}
            }
            #expect(
                broken == [
                    "A list comes in pages of fifteen, with absolute links",
                    "Lists of what an account chooses from", "Activities are counted by year",
                    "A contact has a picture", "An address has a country with a code",
                    "A photo is sent as text, and shown by its URL", "A gift's amount is text",
                    "Two contacts are related, each to the other", "A refused body has its messages as a list",
                ])
        }
    }

    /// An older Monica has no pets.
    @Test func whatAServerLacksIsSkipped() async throws {
        try await withMonica(on: Stack(.sqlite, .inProcess), clock: TestClock(step: 20)) { host in
            let token = try await host.token(dialect: .monica4)
            let older = host.monica4(WithoutPets(base: host.transport)) { token }
            let pets = try #require(Monica4Scenarios.all.first { $0.clause == "pets" })
            let skipped = await #expect(throws: Skipped.self) { try await pets.run(older) }
            #expect(skipped?.reason == "the server has no /pets")
        }
    }
}

extension MonicaHost {
    fileprivate func monica4(
        _ transport: any Transport, token: @escaping @Sendable () async throws -> String
    ) -> Monica4World {
        Monica4World(Server(baseURL: baseURL, transport: transport, sockets: NIOSocketTransport()), token: token)
    }
}

private struct WithoutPets: Transport {
    let base: any Transport

    func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
        var request = request
        if request.url.path.hasSuffix("/pets") { request.url.appendPathComponent("here/are/none") }
        return try await base.send(request, progress: progress)
    }
}
