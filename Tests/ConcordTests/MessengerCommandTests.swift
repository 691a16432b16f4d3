import ContractClient
import Foundation
import MessengerClient
import Testbed
import Testing

/// `concord messenger` works while a server runs.
@Suite(.timeLimit(.minutes(30))) struct MessengerCommandTests {
    private func run(_ arguments: [String]) async throws -> (status: Int32, output: String, errors: String) {
        let process = try ConcordProcess(arguments)
        let output = await process.wholeOutput()
        return (await process.status(), output, await process.standardError())
    }

    @Test(arguments: Stack.Engine.available)
    func anOperatorReadsTheReports(_ engine: Stack.Engine) async throws {
        try await withTestDatabase(on: engine) { place in
            let port = try await reservePort()
            let more = place.url.map { ["--database", $0] } ?? []
            let server = try await ConcordProcess.serving(data: place.folder, port: port, more: more)
            func client(_ name: String) async throws -> MessengerClient {
                let url = try #require(URL(string: "http://127.0.0.1:\(port)"))
                let client = MessengerClient(baseURL: url, transport: .patient, retry: .never)
                try await client.send(
                    Messenger.Register(username: name, email: "\(name)@example.com", password: "secret123"))
                try await client.signIn(username: name, password: "secret123")
                return client
            }
            let (alice, bob) = (try await client("alice"), try await client("bob"))
            let command = ["messenger", "reports", "--data", place.folder] + more
            let none = try await run(command)
            #expect(none.status == 0, "\(none.errors)")
            #expect(none.output == "No reports\n")
            #expect(try await run(command + ["--json"]).output == "")

            let (her, his) = (try #require(try await alice.user), try #require(try await bob.user))
            let chat = try await alice.send(Messenger.CreateChat.direct(with: his)).id
            let rude = try await bob.send(Messenger.SendMessage(chat: chat, content: "rude\u{1B}[2J\u{202E}\n")).id
            let first = try await alice.send(Messenger.CreateReport(user: his, reason: "spam", details: "a/b")).id
            let second = try await alice.send(Messenger.CreateReport(message: rude, reason: "rude")).id
            let text = try await run(command)
            #expect(text.status == 0, "\(text.errors)")
            let read = text.output.split(separator: "\n").map { $0.replacing(#/^[-0-9T:]+Z /#, with: "") }
            #expect(
                read == [
                    #""spam", report \#(first)"#, "    user bob (\(his))", #"    reported by alice (\#(her)): "a/b""#,
                    #""rude", report \#(second)"#,
                    #"    message \#(rude) of bob (\#(his)) in chat \#(chat): "rude\u{1B}[2J\u{202E}\n""#,
                    "    reported by alice (\(her))",
                ])
            let all = try await run(command + ["--json"])
            #expect(all.status == 0, "\(all.errors)")
            let lines = all.output.split(separator: "\n").map {
                // The time differs in each run.
                $0.replacing(#/"created_at":"[-0-9T:]+Z",/#, with: "")
            }
            let (reporter, user) = (
                #""reporter":{"id":\#(her),"username":"alice"}"#, #"{"id":\#(his),"username":"bob"}"#
            )
            #expect(
                lines == [
                    #"{"details":"a/b","id":\#(first),"reason":"spam",\#(reporter),"user":\#(user)}"#,
                    #"{"id":\#(second),"message":{"chat_id":\#(chat),"content":"rude\u001b[2J\u202e\n","id":\#(rude),"#
                        + #""sender":\#(user)},"reason":"rude",\#(reporter)}"#,
                ])
            let rest = try await run(command + ["--json", "--after", "\(first)"])
            #expect(rest.output.split(separator: "\n").count == 1)
            #expect(rest.output.contains(#""reason":"rude""#))
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }

    @Test func mistakesAreReportedWithAReason() async throws {
        let wrong = try await run(["messenger", "reports", "--after", "first"])
        #expect(wrong.status == 64)
        #expect(wrong.errors.contains("Usage: concord messenger reports "), "\(wrong.errors)")
        let nowhere = try await run(["messenger", "reports", "--data", "/nonexistent"])
        #expect(nowhere.status == 1)
        #expect(nowhere.errors.contains("has no Messenger database"))
    }
}
