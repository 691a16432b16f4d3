import ContractClient
import Foundation
import MessengerClient
import NIOConcurrencyHelpers
import Testbed
import Testing

/// What was acknowledged survives `kill -9`, and nothing is there twice.
@Suite struct CrashTests {
    @Test func acknowledgedMessagesSurviveAndNoneIsDoubled() async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let url = URL(string: "http://127.0.0.1:\(port)")!
            var process = try await ConcordProcess.serving(data: folder, port: port, more: ["--log-level", "error"])
            let client = MessengerClient(baseURL: url, retry: .never)
            try await client.send(
                Messenger.Register(username: "alice", email: "alice@example.com", password: "secret123"))
            try await client.signIn(username: "alice", password: "secret123")
            let chat = try await client.send(Messenger.CreateChat.group("Crash", members: [])).id

            let acknowledged = NIOLockedValueBox<[String: Messenger.Message.ID]>([:])
            let attempted = NIOLockedValueBox<[String]>([])
            for round in 0..<3 {
                let victim = process
                await withTaskGroup(of: Void.self) { group in
                    for writer in 0..<8 {
                        group.addTask {
                            // Writes until the server is gone.
                            for index in 0... {
                                let text = "round \(round) writer \(writer) message \(index)"
                                attempted.withLockedValue { $0.append(text) }
                                let message = Messenger.SendMessage(chat: chat, content: text)
                                guard let answer = try? await client.answer(message, idempotencyKey: text),
                                    case .output(let sent) = answer.content
                                else { return }
                                let count = acknowledged.withLockedValue { acknowledged in
                                    acknowledged[text] = sent.id
                                    return acknowledged.count
                                }
                                // In the middle of the load: seven others are waiting for their answers.
                                if count % 100 == 0, count / 100 == round + 1 { victim.signal(SIGKILL) }
                            }
                        }
                    }
                }
                #expect(await process.status() == 128 + SIGKILL)
                process = try await ConcordProcess.serving(data: folder, port: port, more: ["--log-level", "error"])
            }

            // Everything is sent once more under its key, as an app does that never saw the answer.
            for text in attempted.withLockedValue({ $0 }) {
                let answer = try await client.answer(
                    Messenger.SendMessage(chat: chat, content: text), idempotencyKey: text)
                guard case .output(let sent) = answer.content else { continue }
                if let id = acknowledged.withLockedValue({ $0[text] }) {
                    #expect(sent.id == id)
                    #expect(answer.headers[.idempotentReplayed] == "true")
                }
            }
            var found: [String] = []
            for try await message in client.history(of: chat, pageSize: 100) { found.append(message.content) }
            #expect(found.sorted() == attempted.withLockedValue { $0 }.sorted())
            #expect(acknowledged.withLockedValue { $0.count } >= 300)
            process.signal(SIGTERM)
            #expect(await process.status() == 0)
        }
    }
}
