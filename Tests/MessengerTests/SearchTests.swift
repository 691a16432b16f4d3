import Backend
import ContractClient
import Database
import HTTPTypes
import MessengerAPI
import MessengerCheck
import MessengerClient
import Testbed
import Testing

@testable import MessengerService

/// Users are found by parts of their names, and many searches of one user do not delay others.
@Suite(.timeLimit(.minutes(30))) struct MessengerSearchTests {
    @Test(arguments: Stack.Engine.available)
    func currentNamesAreFound(_ engine: Stack.Engine) async throws {
        try await withMessenger(on: Stack(engine, .inProcess)) { host in
            let world = host.world()
            let (annas, bobs) = (world.client(), world.client())
            let anna = try await annas.enter("anna_marie")
            let bob = try await bobs.enter("bob")
            func ids(_ query: String) async throws -> [Messenger.User.ID] {
                try await annas.send(Messenger.SearchUsers(query)).map(\.id)
            }
            #expect(try await ids("A_M") == [anna])
            #expect(try await ids("a%m") == [])
            #expect(try await ids("b") == [bob])
            _ = try await bobs.send(Messenger.UpdateMe(displayName: "Žofie  Mari"))
            #expect(try await ids("mari") == [anna, bob])
            #expect(try await ids("žofie") == [bob])
            #expect(try await ids("e  m") == [bob])
            #expect(try await ids("bob") == [bob])
            _ = try await bobs.send(Messenger.UpdateMe(displayName: "Robert"))
            #expect(try await ids("mari") == [anna])
            try await bobs.send(Messenger.DeleteMe(password: "correct horse"))
            #expect(try await ids("rob") == [])
            let left = try await host.database.read { db in
                try db.value("SELECT COUNT(*) FROM search_blocks WHERE lines LIKE '%robert%'", as: Int.self)
            }
            #expect(left == 0)
        }
    }

    @Test func oneUsersSearchesDelayNoOthers() async throws {
        try await withMessenger(on: Stack(.sqlite, .inProcess)) { host in
            let world = host.world()
            let (client, others) = (world.client(), world.client())
            let anna = try await client.enter("anna")
            _ = try await others.enter("bob")
            let searches = host.service.searches
            let (gate, open) = AsyncStream<Void>.makeStream()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<host.database.readsOfOneCaller {
                    group.addTask { try await searches.run(for: anna) { for await _ in gate {} } }
                }
                while searches.standing(of: anna).running < host.database.readsOfOneCaller {
                    try await Task.sleep(for: .milliseconds(1))
                }
                // The next search waits a moment, and is then refused with a time to retry.
                await #expect { try await client.send(Messenger.SearchUsers("bob")) } throws: { error in
                    (error as? APIError)?.status == .tooManyRequests
                }
                let found = try await others.send(Messenger.SearchUsers("bob")).count
                #expect(found == 1)
                #expect(searches.standing(of: anna) == (host.database.readsOfOneCaller, 0))
                open.finish()
                try await group.waitForAll()
            }
        }
    }
}

extension MessengerClient {
    /// Registers a user and signs in.
    fileprivate func enter(_ name: String) async throws -> Messenger.User.ID {
        try await send(Messenger.Register(username: name, email: "\(name)@example.com", password: "correct horse"))
        return try await signIn(username: name, password: "correct horse")
    }
}
