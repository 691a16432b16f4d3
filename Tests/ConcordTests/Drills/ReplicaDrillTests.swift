import ContractCheck
import ContractClient
import Foundation
import MessengerClient
import Testbed
import Testing

/// Nodes whose reads go to a standby, which dies and comes back under load.
@Suite(
    .serialized, .enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"),
    .timeLimit(.minutes(Torture.minutes)))
struct ReplicaDrillTests {
    @Test func theStandbyThatAnswersReadsIsStopped() async throws {
        try await ReplicatedPostgreSQL.serving { server in
            try await withTemporaryFolder { folder in
                let more = ["CONCORD_DATABASE_REPLICA": server.standby.url]
                try await DrillNode.serving(2, in: folder, database: server.primary.url, more: more) { nodes in
                    try await becomes(nil, at: nodes)
                    let figures = try await Drill.run(
                        "a standby that answers reads is stopped", at: nodes, mayLoseConnections: false
                    ) { drill in
                        for _ in 0..<Drill.rounds {
                            try await drill.acknowledged()
                            await server.standby.stop()
                            // Commits go on once the primary no longer waits for it.
                            try await server.set("synchronous_standby_names", to: "")
                            try await drill.acknowledged()
                            try await becomes("unavailable", at: nodes)
                            try await server.standby.start()
                            try await server.set("synchronous_standby_names", to: nil)
                            try await becomes(nil, at: nodes)
                        }
                        try await drill.acknowledged()
                    }
                    figures.expectNothingLost()
                    figures.expectNothingMissed()
                    #expect(figures.unavailable == 0)
                }
            }
        }
    }

    /// A message that was acknowledged is in the next page, at any node.
    @Test func eachMessageIsInTheNextPageOfTheOtherNode() async throws {
        try await ReplicatedPostgreSQL.serving(["recovery_min_apply_delay=50ms"]) { server in
            try await withTemporaryFolder { folder in
                let more = ["CONCORD_DATABASE_REPLICA": server.standby.url]
                try await DrillNode.serving(2, in: folder, database: server.primary.url, more: more) { nodes in
                    let store = MemoryTokenStore()
                    let clients = nodes.map { MessengerClient(baseURL: $0.url, store: store, transport: .patient) }
                    try await clients[0].send(
                        Messenger.Register(username: "alice", email: "alice@example.com", password: "secret123"))
                    try await clients[0].signIn(username: "alice", password: "secret123")
                    try await becomes(nil, at: nodes)
                    let chat = try await clients[0].send(Messenger.CreateChat.group("One", members: [])).id
                    for number in 0..<20 {
                        let (writer, reader) = (clients[number % 2], clients[1 - number % 2])
                        let sent = try await writer.send(Messenger.SendMessage(chat: chat, content: "\(number)"))
                        let page = try await reader.send(Messenger.ListMessages(chat: chat))
                        #expect(page.first?.id == sent.id)
                        #expect(page.count == number + 1)
                        #expect(try await reader.send(Messenger.ListChats()).first?.lastMessage == "\(number)")
                    }
                }
            }
        }
    }

    /// Waits until each node says this of its replica; nil once reads go there.
    private func becomes(_ state: String?, at nodes: [DrillNode]) async throws {
        for node in nodes {
            let raw = RawClient(baseURL: node.url, transport: .patient)
            while true {
                let answer = try await raw.send(.get, "/ready")
                if answer.status == 200, try answer.json()["parts"]?["replica"]?.string == state { break }
                try await Task.sleep(for: .milliseconds(50))
            }
        }
    }
}
