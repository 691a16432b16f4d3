import ContractCheck
import ContractClient
import MessengerCheck
import MessengerClient
import Testbed
import Testing

/// A block takes effect on all nodes.
@Suite(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"), .timeLimit(.minutes(30)))
struct BlockTests {
    @Test("A block at one node holds at the others, from its answer on")
    func nodes() async throws {
        try await withMessengerNodes(2, on: Stack(.postgreSQL, .inProcess)) { nodes in
            let (alice, bob) = try await nodes[0].world().pair()
            let there = MessengerClient(
                baseURL: nodes[1].baseURL, store: MemoryTokenStore(bob.tokens), transport: nodes[1].transport,
                sockets: nodes[1].sockets, retry: .never)
            let chat = try await alice.directChat(with: bob)
            for _ in 0..<10 {
                async let sending = together(24, width: 6) { index -> Bool in
                    do {
                        try await there.send(Messenger.SendMessage(chat: chat, content: "\(index)"))
                        return true
                    } catch let error as APIError {
                        #expect(error.message == "You cannot message this user")
                        return false
                    }
                }
                try await alice.send(Messenger.BlockUser(bob.id))
                let known = try await alice.send(Messenger.ListMessages(chat: chat, limit: 100))
                _ = try await sending
                #expect(try await alice.send(Messenger.ListMessages(chat: chat, limit: 100)) == known)
                try await alice.send(Messenger.UnblockUser(bob.id))
            }
        }
    }
}
