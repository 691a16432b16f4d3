import ContractClient
import Foundation
import MessengerClient
import Testbed
import Testing

/// `Examples/Chat` works when it is run as its users run it.
@Suite(.timeLimit(.minutes(30))) struct ChatExampleTests {
    private let password = "secret123"

    private func register(_ name: String, at url: URL) async throws -> MessengerClient {
        let client = MessengerClient(baseURL: url, transport: .patient)
        try await client.send(Messenger.Register(username: name, email: "\(name)@example.com", password: password))
        try await client.signIn(username: name, password: password)
        return client
    }

    private func example(_ name: String, in chat: Messenger.Chat.ID, at url: URL) throws -> ConcordProcess {
        try ConcordProcess(
            [url.absoluteString, name, password, "\(chat)"], command: "chat-example", hasInput: true)
    }

    @Test func aConversationOutlivesItsServer() async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let url = try #require(URL(string: "http://127.0.0.1:\(port)"))
            let server = try await ConcordProcess.serving(data: folder, port: port)
            let (alice, bob) = (try await register("alice", at: url), try await register("bob", at: url))
            let (first, second) = (try #require(try await alice.user), try #require(try await bob.user))
            let chat = try await alice.send(Messenger.CreateChat.direct(with: second)).id
            let examples = [try example("alice", in: chat, at: url), try example("bob", in: chat, at: url)]

            let lines = (1...60).map { "line \($0)" }
            for line in lines.prefix(20) { for example in examples { try example.type(line) } }
            // Some lines have arrived, others are in flight.
            for example in examples { try await example.wait { $0.contains("line 5\n") } }
            server.signal(SIGKILL)
            for line in lines[20..<40] { for example in examples { try example.type(line) } }
            #expect(await server.status() == 128 + SIGKILL)
            let again = try await ConcordProcess.serving(data: folder, port: port)
            for line in lines[40...] { for example in examples { try example.type(line) } }

            for example in examples { try await example.wait { $0.filter(\.isNewline).count >= 2 * lines.count } }
            for example in examples {
                example.endInput()
                #expect(await example.status() == 0)
            }
            let printed = await [examples[0].wholeOutput(), examples[1].wholeOutput()]
            #expect(printed[0] == printed[1])
            for user in [first, second] {
                let said = printed[0].split(separator: "\n").filter { $0.hasPrefix("\(user): ") }
                #expect(said.map(String.init) == lines.map { "\(user): \($0)" })
            }
            again.signal(SIGTERM)
            #expect(await again.status() == 0)
        }
    }

    @Test func aNewUserIsRegisteredAndARefusedSendIsReported() async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let url = try #require(URL(string: "http://127.0.0.1:\(port)"))
            let server = try await ConcordProcess.serving(data: folder, port: port)
            let alice = try await register("alice", at: url)
            let chat = try await alice.send(Messenger.CreateChat.group("Alone", members: [])).id
            let carol = try example("carol", in: chat, at: url)
            try carol.type("May I?")
            try await carol.wait { $0.filter(\.isNewline).count == 2 }
            carol.endInput()
            #expect(await carol.status() == 0)
            let printed = await carol.wholeOutput().split(separator: "\n").sorted()
            #expect(printed == ["This chat is not yours to read.", "not sent: Not a member of this chat"])
            try await MessengerClient(baseURL: url, transport: .patient).signIn(username: "carol", password: password)
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }

    @Test func aWrongCallPrintsTheUsage() async throws {
        let example = try ConcordProcess(["http://127.0.0.1:1"], command: "chat-example")
        #expect(await example.status() == 64)
        #expect(await example.wholeOutput() == "usage: chat-example URL USERNAME PASSWORD CHAT_ID\n")
    }
}
