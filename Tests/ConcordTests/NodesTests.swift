import Contract
import ContractClient
import Foundation
import MessengerClient
import NIOSockets
import Testbed
import Testing

/// Two processes on one PostgreSQL database are two nodes of one server.
@Suite(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"), .timeLimit(.minutes(30)))
struct NodesTests {
    @Test func eventsOfOneNodeReachTheSocketsOfTheOther() async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            let key = Data(repeating: 42, count: 32).base64EncodedString()
            let environment = [
                "CONCORD_DATABASE": try #require(place.url), "CONCORD_MESSENGER_TOKEN_KEY": key,
            ]
            var ports: [Int] = []
            var nodes: [ConcordProcess] = []
            for name in ["a", "b"] {
                let port = try await reservePort()
                ports.append(port)
                try DrillNode.shareFiles(of: "\(place.folder)/\(name)", at: place.folder + "/files")
                nodes.append(
                    try await ConcordProcess.serving(
                        data: "\(place.folder)/\(name)", port: port, environment: environment))
            }
            let urls = try ports.map { try #require(URL(string: "http://127.0.0.1:\($0)")) }

            let (alice, store) = (MessengerClient(baseURL: urls[0], transport: .patient), MemoryTokenStore())
            let (bob, bobElsewhere) = (
                MessengerClient(baseURL: urls[0], store: store), MessengerClient(baseURL: urls[1], store: store)
            )
            for (client, name) in [(alice, "alice"), (bob, "bob")] {
                try await client.send(
                    Messenger.Register(username: name, email: "\(name)@example.com", password: "secret123"))
                try await client.signIn(username: name, password: "secret123")
            }
            let id = try #require(try await bob.user)
            let chat = try await alice.send(Messenger.CreateChat.direct(with: id)).id

            // Bob signed in at one node and listens at the other.
            let socket = try await bobElsewhere.openSocket(over: NIOSocketTransport())
            try await socket.send(Messenger.Subscribe(chat: chat))
            #expect(try await socket.receive() == Messenger.Subscribed(chat: chat))
            // The second text is longer than the database can carry in a notification.
            for text in ["Hello!", String(repeating: "long ", count: 3000)] {
                let sent = try await alice.send(Messenger.SendMessage(chat: chat, content: text))
                #expect(try await socket.receive() == sent.message)
            }
            // A membership that ends at one node ends the subscription at the other, in order with the messages.
            let group = try await alice.send(Messenger.CreateChat.group("Team", members: [id])).id
            try await socket.send(Messenger.Subscribe(chat: group))
            #expect(try await socket.receive() == Messenger.Subscribed(chat: group))
            let before = try await alice.send(Messenger.SendMessage(chat: group, content: "before"))
            try await alice.send(Messenger.RemoveMember(chat: group, user: id))
            try await alice.send(Messenger.SendMessage(chat: group, content: "unheard"))
            let first = try await socket.receive()
            #expect(first == before.message, "\(first)")
            #expect(try await socket.receive() == Messenger.Unsubscribed(chat: group))
            try await socket.send(Messenger.Subscribe(chat: group))
            #expect(try await socket.receive() == Messenger.LiveError(message: "Not a member of this chat"))
            let refusal = await #expect(throws: APIError.self) {
                try await bobElsewhere.send(Messenger.ListMessages(chat: group))
            }
            #expect(refusal?.status == .forbidden)
            let aside = try await alice.send(Messenger.SendMessage(chat: chat, content: "aside"))
            #expect(try await socket.receive() == aside.message)

            try await bob.signOut()
            await #expect(throws: SocketClosed(code: 4001, reason: "Session ended")) {
                _ = try await socket.receive()
            }
            for node in nodes {
                node.signal(SIGTERM)
                #expect(await node.status() == 0)
            }
        }
    }
}
