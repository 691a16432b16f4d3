import Contract
import ContractClient
import Database
import DunbarAPI
import DunbarCheck
import DunbarTestHost
import Testbed
import Testing

/// The notes of sessions depend on the clock and the version of the server.
@Suite(.timeLimit(.minutes(30))) struct SessionListTests {
    @Test(arguments: Stack.Engine.available)
    func aUseIsNotedToAnHour(_ engine: Stack.Engine) async throws {
        try await withDunbar(on: Stack(engine, .inProcess)) { host in
            let john = try await host.world().person()
            func own() async throws -> Dunbar.Session { try #require(try await john.send(Dunbar.ListSessions()).first) }
            let first = try await own()
            #expect(first.address == "127.0.0.1" && first.lastUsedAt == first.createdAt)
            host.clock.advance(by: .seconds(3599))
            #expect(try await own().lastUsedAt == first.lastUsedAt)
            host.clock.advance(by: .seconds(1))
            let used = try await own()
            #expect(used.lastUsedAt.milliseconds == first.lastUsedAt.milliseconds + 3_600_000)
            #expect(used.createdAt == first.createdAt && used.id == first.id)
            // A session of the version before has no notes, and gets them at its first use.
            try await host.database.write { db in
                try db.run("UPDATE sessions SET device = NULL, started_at = NULL, used_at = NULL, address = NULL")
            }
            let bare = try await own()
            #expect(bare.device == nil && bare.createdAt == nil && bare.address == "127.0.0.1")
        }
    }
}
