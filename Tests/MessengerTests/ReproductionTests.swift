import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import Testbed
import Testing

/// The commands that a failure prints reproduce it when a shell runs them.
@Suite(.timeLimit(.minutes(30))) struct ReproductionTests {
    /// A `python3` that has `websockets`.
    private static let python = ProcessInfo.processInfo.environment["CONCORD_PYTHON"]
        .map { URL(fileURLWithPath: $0).deletingLastPathComponent().path }

    @Test func aRequestIsRepeatedAlthoughItsSessionHasEnded() async throws {
        let output = try await repeated { server, person in
            let me = try await person.get("/me")
            try expect(me.json()["username"], equals: "somebody else")
        }
        #expect(output.contains("HTTP/1.1 200"))
        #expect(output.contains(#""display_name":"it's"#))
    }

    @Test func aFailureShowsOnlyTheExchangesAtFault() async throws {
        let failure = try await self.failure { server, person in
            let answers = try await together(5) { index in try await person.get("/users/search?q=\(index)") }
            throw CheckFailure("that one", in: answers[3].exchange)
        }
        let commands = failure.reproduce.filter { !$0.hasPrefix("#") }
        #expect(commands.count == 2)
        #expect(commands[0].hasPrefix("TOKEN_1=$(curl -sS -X POST "))
        #expect(commands[1].contains("/users/search?q=3"))
        #expect(failure.reproduce.last == "# 200 []")
    }

    @Test(.enabled(if: python != nil, "`make test` installs websockets and sets CONCORD_PYTHON"))
    func aConversationIsRepeated() async throws {
        let path = try #require(Self.python)
        let heard = #"< {"type":"message""#
        let output = try await repeated(until: heard, path: path + ":/usr/bin:/bin") { server, person in
            let chat = try await person.post("/chats", #"{"type":"group","name":"x"}"#).json()["id"] ?? .null
            let socket = try await server.sockets.open(
                server.baseURL.appendingPathComponent("ws"), headers: [:], maximumMessageSize: 65_536)
            for frame in [#"{"type":"auth","token":"\#(person.token)"}"#, #"{"type":"subscribe","chat_id":\#(chat)}"#] {
                try await socket.send(frame)
                _ = try await socket.receive()
            }
            let sent = try await person.post("/chats/\(chat)/messages", #"{"content":"it's \"quoted\""}"#)
            try expect(sent.status, equals: 201)
            let frame = try await socket.receive()
            throw CheckFailure("found \(frame)")
        }
        #expect(output.contains(#"{"type":"auth_ok""#))
        #expect(output.contains(#"{"type":"subscribed""#))
        #expect(output.contains("HTTP/1.1 201"))
        // The message was sent again, and arrived on the socket again.
        #expect(output.contains(heard))
    }

    // MARK: A server and a user

    private struct User: Sendable {
        let client: RawClient
        let token: String

        func get(_ path: String) async throws -> RawAnswer { try await client.send(.get, path, token: token) }
        func post(_ path: String, _ body: String) async throws -> RawAnswer {
            try await client.send(.post, path, token: token, body: body)
        }
    }

    /// Runs the commands of a scenario's failure while its server is still running, and returns their output.
    ///
    /// - Parameter words: The text to wait for. The commands run several times until they print it: they allow Python
    ///   some seconds to start, which a busy machine may exceed.
    private func repeated(
        until words: String = "", path: String = "/usr/bin:/bin",
        _ scenario: @escaping @Sendable (Server, User) async throws -> Void
    ) async throws -> String {
        let output = AsyncStream<String>.makeStream()
        _ = try await failure(scenario) { failure in
            var text = ""
            for _ in 0..<5 where text.isEmpty || !text.contains(words) {
                let (_, bytes) = try await runShell(failure.reproduce.joined(separator: "\n"), path: path)
                text = String(decoding: bytes, as: UTF8.self)
            }
            output.continuation.yield(text)
        }
        for await text in output.stream { return text }
        return ""
    }

    private func failure(
        _ scenario: @escaping @Sendable (Server, User) async throws -> Void,
        then: @escaping @Sendable (Failure) async throws -> Void = { _ in }
    ) async throws -> Failure {
        var failures: [Failure] = []
        try await withMessenger(on: Stack(.sqlite, .live)) { host in
            let checklist = Checklist(
                api: "test",
                scenarios: [
                    Scenario<Server>("fails", clause: "A") { server in
                        try await scenario(server, try await Self.signIn(on: server))
                    }
                ], probe: "/me", isLimited: { _ in false },
                enter: { server in
                    (
                        server,
                        {
                            // Every run ends the sessions.
                            _ = try? await host.database.write { try $0.run("DELETE FROM sessions") }
                            return [:]
                        }
                    )
                })
            let server = Server(baseURL: host.baseURL, transport: host.transport, sockets: host.sockets)
            let report = await Checker(checklist).run(checklist.items, on: server)
            let failure = try #require(report.scenarios[0].failure)
            try await then(failure)
            failures.append(failure)
        }
        return try #require(failures.first)
    }

    private static func signIn(on server: Server) async throws -> User {
        let client = RawClient(baseURL: server.baseURL, transport: server.transport)
        let account = #"{"username":"it's","email":"a@b","password":"pass word'"}"#
        try expect(try await client.send(.post, "/auth/register", body: account).status, equals: 201)
        let tokens = try await client.send(.post, "/auth/login", body: account).json()
        guard case .string(let token)? = tokens["access_token"] else { throw CheckFailure("no token") }
        return User(client: client, token: token)
    }
}
