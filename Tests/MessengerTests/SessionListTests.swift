import Contract
import ContractClient
import Database
import MessengerAPI
import MessengerCheck
import MessengerTestHost
import Testbed
import Testing

/// The notes of sessions depend on the clock, the client's address and the version of the server.
@Suite(.timeLimit(.minutes(30))) struct SessionListTests {
    @Test(arguments: Stack.Engine.available)
    func aSessionIsShownAsItWasUsed(_ engine: Stack.Engine) async throws {
        try await withMessenger(on: Stack(engine, .inProcess), peer: "2001:db8:1:2:3:4:5:6") { host in
            let alice = try await host.world().person()
            let first = try #require(try await alice.send(Messenger.ListSessions()).first)
            #expect(first.address?.hasPrefix("2001:db8:1:2:") == true && first.address?.hasSuffix("5:6") == false)
            host.clock.advance(by: .seconds(3000))
            try await alice.send(Messenger.Refresh(refreshToken: alice.refreshToken))
            let renewed = try #require(try await alice.send(Messenger.ListSessions()).first)
            #expect(renewed.createdAt == first.createdAt)
            #expect(renewed.lastUsedAt.milliseconds == first.lastUsedAt.milliseconds + 3_000_000)
            // The session that was renewed last comes first.
            let other = try await host.world().signedIn(alice.name, alice.password)
            #expect(try await other.send(Messenger.ListSessions()).map(\.current).count == 2)
            host.clock.advance(by: .seconds(60))
            try await alice.send(Messenger.Refresh(refreshToken: alice.refreshToken))
            #expect(try await other.send(Messenger.ListSessions()).map(\.current) == [false, true])
        }
    }

    /// A session of the version before has no notes.
    @Test(arguments: Stack.Engine.available)
    func aSessionWithoutNotesIsShown(_ engine: Stack.Engine) async throws {
        try await withMessenger(on: Stack(engine, .inProcess)) { host in
            let alice = try await host.world().person()
            let noted = try await alice.send(Messenger.ListSessions())
            try await host.database.write { db in
                try db.run(
                    "UPDATE sessions SET device = NULL, started_at = NULL, used_at = NULL, address = NULL")
            }
            let bare = try #require(try await alice.send(Messenger.ListSessions()).first)
            #expect(bare.id == noted[0].id && bare.device == nil && bare.createdAt == nil && bare.address == nil)
            #expect(bare.lastUsedAt == noted[0].lastUsedAt)
            try await alice.send(Messenger.Refresh(refreshToken: alice.refreshToken))
            #expect(try await alice.send(Messenger.ListSessions()).first?.address == "127.0.0.1")
        }
    }

    /// What one node ends, ends on the other within a second, with its socket.
    @Test(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"))
    func sessionsEndOnEveryNode() async throws {
        try await withMessengerNodes(2, on: Stack(.postgreSQL, .live)) { hosts in
            let (here, there) = (hosts[0].world(), hosts[1].world())
            let alice = try await here.person()
            let ends = try await there.signedIn(alice.name, alice.password)
            let socket = try await ends.socket()
            _ = try await ends.send(Messenger.GetMe())
            try await alice.client.changePassword(from: alice.password, to: "another one")
            let closed = await #expect(throws: SocketClosed.self) { while true { _ = try await socket.receive() } }
            #expect(closed?.code == 4001)
            await #expect(throws: APIError.self) {
                try await ends.send(Messenger.Refresh(refreshToken: ends.refreshToken))
            }
        }
    }
}
