import Contract
import ContractClient
import Database
import GTSDAPI
import GTSDCheck
import GTSDTestHost
import Testbed
import Testing

/// The notes of sessions depend on the clock and the version of the server.
@Suite(.timeLimit(.minutes(30))) struct SessionListTests {
    @Test(arguments: Stack.Engine.available)
    func aSessionIsShownAsItWasUsed(_ engine: Stack.Engine) async throws {
        try await withGTSD(on: Stack(engine, .inProcess)) { host in
            let anna = try await host.world().person()
            func own() async throws -> GTSD.Session {
                let list: GTSD.SessionList = try await anna.send(GTSD.ListSessions())
                return try #require(list.sessions.first)
            }
            let first = try await own()
            #expect(first.address == "127.0.0.1" && first.lastUsedAt == first.createdAt)
            host.clock.advance(by: .seconds(600))
            #expect(try await own().lastUsedAt == first.lastUsedAt)
            _ = try await anna.client.send(GTSD.Refresh(refreshToken: anna.refreshToken))
            let renewed = try await own()
            #expect(renewed.lastUsedAt.milliseconds == first.lastUsedAt.milliseconds + 600_000)
            #expect(renewed.createdAt == first.createdAt && renewed.id == first.id)
            // A session of the version before has no notes.
            try await host.database.write { db in
                try db.run("UPDATE sessions SET device = NULL, started_at = NULL, used_at = NULL, address = NULL")
            }
            let bare = try await own()
            #expect(bare.device == nil && bare.createdAt == nil && bare.address == nil)
            #expect(bare.lastUsedAt == renewed.lastUsedAt)
        }
    }
}
