import Backend
import Contract
import ContractClient
import Foundation
import MessengerClient
import NIOSockets
import Testbed
import Testing

/// What `GET /metrics` of the operator's port says of a server that is used through the SDK.
@Suite(.timeLimit(.minutes(30))) struct MetricsTests {
    private func serving(
        _ place: TestDatabase, _ more: String...
    ) async throws -> (server: ConcordProcess, url: URL, port: Int) {
        let (port, operatorPort) = (try await reservePort(), try await reservePort())
        let database = place.url.map { ["--database", $0] } ?? []
        let server = try await ConcordProcess.serving(
            data: place.folder, port: port, more: ["--port", "operator=\(operatorPort)"] + database + more)
        return (server, URL(string: "http://127.0.0.1:\(port)")!, operatorPort)
    }

    private func answer(_ url: URL, _ path: String) async throws -> TransportResponse {
        try await URLSessionTransport.patient.send(
            TransportRequest(method: .get, url: url.appendingPathComponent(path)), progress: nil)
    }

    @Test(arguments: Stack.Engine.available)
    func whatHappensIsCounted(on engine: Stack.Engine) async throws {
        try await withTestDatabase(on: engine) { place in
            let (server, url, port) = try await serving(place)
            #expect(server.standardOutput.contains("operator     http://127.0.0.1:\(port)\n"))
            let (alice, bob) = (
                MessengerClient(baseURL: url, transport: .patient, retry: .never),
                MessengerClient(baseURL: url, transport: .patient)
            )
            for (client, name) in [(alice, "alice"), (bob, "bob")] {
                try await client.send(
                    Messenger.Register(username: name, email: "\(name)@example.com", password: "secret123"))
                try await client.signIn(username: name, password: "secret123")
            }
            let chat = try await alice.send(Messenger.CreateChat.direct(with: try #require(try await bob.user))).id
            let socket = try await bob.openSocket(over: NIOSocketTransport())
            try await socket.send(Messenger.Subscribe(chat: chat))
            #expect(try await socket.receive() == Messenger.Subscribed(chat: chat))
            for text in ["one", "two", "three"] {
                let sent = try await alice.send(Messenger.SendMessage(chat: chat, content: text))
                #expect(try await socket.receive() == sent.message)
            }
            // Paths that clients make up are one series, and so are methods.
            for path in ["a", "b/c", "chats/1/unknown"] { #expect(try await answer(url, path).status == .notFound) }
            #expect(try await answer(url, "auth/login").status == .methodNotAllowed)
            let raw = try await RawConnection(port: try #require(url.port))
            try await raw.send("nonsense\r\n\r\n")
            _ = try await raw.rest()

            let now = try await Exposition.wait(port: port) {
                $0[#"concord_http_malformed_requests_total{api="messenger"}"#] == 1
            }
            let sends = #"api="messenger",method="POST",route="/chats/{id}/messages",status="201""#
            #expect(now["concord_http_request_duration_seconds_count{\(sends)}"] == 3)
            #expect(now[#"concord_http_request_duration_seconds_bucket{\#(sends),le="+Inf"}"#] == 3)
            #expect(now["concord_http_request_duration_seconds_sum{\(sends)}"] > 0)
            let lost = #"api="messenger",method="any",route="unknown",status="404""#
            #expect(now["concord_http_request_duration_seconds_count{\(lost)}"] == 3)
            #expect(now.sum("concord_http_request_duration_seconds_count", #"status="405""#) == 1)
            #expect(!now.text.contains("/chats/1"))
            #expect(now[#"concord_http_requests_in_flight{api="messenger"}"#] == 0)
            #expect(now[#"concord_http_requests_in_flight{api="operator"}"#] == 1)

            #expect(now[#"concord_sockets{api="messenger"}"#] == 1)
            // A socket also listens to its own user, and its first message is its token.
            #expect(now[#"concord_subscriptions{api="messenger"}"#] == 2)
            #expect(now[#"concord_socket_handshakes_total{api="messenger",status="101"}"#] == 1)
            #expect(now[#"concord_socket_frames_total{api="messenger",direction="received"}"#] == 2)
            #expect(now[#"concord_socket_frames_total{api="messenger",direction="sent"}"#] >= 4)

            let transactions = "concord_database_transaction_duration_seconds_count"
            #expect(now[#"\#(transactions){api="messenger",kind="write"}"#] >= 6)
            #expect(now[#"\#(transactions){api="messenger",kind="read"}"#] >= 1)
            #expect(now[#"concord_database_wait_seconds_count{api="messenger"}"#] >= 7)
            #expect(now[#"concord_database_connections{api="messenger"}"#] >= 2)
            if engine == .sqlite {
                #expect(now[#"concord_database_group_commit_size_count{api="messenger"}"#] >= 6)
                #expect(now[#"concord_database_file_bytes{api="messenger"}"#] > 0)
                #expect(now[#"concord_database_wal_bytes{api="messenger"}"#] > 0)
            }
            // Sessions are cached for a second, which a slow machine takes for a request.
            #expect(now.sum("concord_cache_requests_total", #"cache="sessions""#) >= 4)
            #expect(now.sum("concord_cache_requests_total", #"cache="signatures",result="hit""#) >= 2)
            #expect(now.sum("concord_cache_requests_total", #"cache="signatures",result="miss""#) >= 2)
            #expect(now["concord_connections"] >= 1)
            #expect(now["concord_disk_available_bytes"] > 0 && now["concord_disk_size_bytes"] > 0)
            #expect(now["process_cpu_seconds_total"] > 0 && now["process_open_fds"] > 5)
            #expect(now["process_resident_memory_bytes"] > 1e6)
            #expect(abs(now["process_start_time_seconds"] - Date.now.timeIntervalSince1970) < 3600)
            #expect(now.text.contains("concord_build_info{commit=\""))
            // All that is exported is described, and is of the kind that the description says.
            let described = Dictionary(
                uniqueKeysWithValues: ServerMetrics.descriptions.map { ($0.name, $0.kind.rawValue) })
            #expect(now.kinds.filter { described[$0.key] != $0.value } == [:])

            await socket.close()
            _ = try await Exposition.wait(port: port) {
                $0[#"concord_sockets{api="messenger"}"#] == 0 && $0[#"concord_subscriptions{api="messenger"}"#] == 0
            }
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
            #expect(!(await server.standardError()).contains("route=/metrics"))
        }
    }

    /// Wrong passwords, then a right one too many.
    @Test func refusedSignInsAreCounted() async throws {
        try await withTestDatabase(on: .sqlite) { place in
            let (server, url, port) = try await serving(place)
            let client = MessengerClient(baseURL: url, transport: .patient, retry: .never)
            try await client.send(
                Messenger.Register(username: "alice", email: "alice@example.com", password: "secret123"))
            for _ in 0..<10 {
                let refusal = await #expect(throws: APIError.self) {
                    try await client.signIn(username: "alice", password: "wrong-password")
                }
                #expect(refusal?.status == .unauthorized)
            }
            for _ in 0..<2 {
                let refusal = await #expect(throws: APIError.self) {
                    try await client.signIn(username: "alice", password: "secret123")
                }
                #expect(refusal?.status == .tooManyRequests)
            }
            let now = try await Exposition(port: port)
            #expect(now[#"concord_sign_in_refusals_total{api="messenger"}"#] == 2)
            #expect(now.sum("concord_http_request_duration_seconds_count", #"route="/auth/login",status="429""#) == 2)
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }

    @Test func theOperatorsPortSaysWhetherAllAPIsAreReady() async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            var options = ["serve", "monica", "dunbar", "--data", folder, "--port", "operator=\(port)"]
            for api in ["monica", "dunbar"] { options += ["--port", "\(api)=0"] }
            let server = try ConcordProcess(options)
            try await server.waitUntilReady()
            let url = URL(string: "http://127.0.0.1:\(port)")!
            for path in ["health", "ready"] {
                let ready = try await answer(url, path)
                #expect(ready.status == .ok)
                #expect(String(decoding: ready.body, as: UTF8.self) == #"{"status":"ok"}"#)
            }
            #expect(try await answer(url, "contacts").status == .notFound)

            // Another server cannot have the same port, and says how to choose another.
            let second = try ConcordProcess(
                ["serve", "monica", "--data", folder + "/b", "--port", "monica=0", "--port", "operator=\(port)"])
            #expect(await second.status() == 1)
            let errors = await second.standardError()
            let taken = "Port \(port) on 127.0.0.1 is taken by another process, so operator cannot listen there"
            #expect(errors.contains(taken), "\(errors)")
            #expect(errors.contains("choose another port with --port"))
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }

    @Test(arguments: [
        (["--port", "operator=70000"], "70000 is not a port for operator: 0 to 65535, or off"),
        (["--port", "operator=on"], "on is not a port for operator: 0 to 65535, or off"),
    ])
    func refusesSettingsOfTheOperatorsPort(_ arguments: [String], _ message: String) async throws {
        let process = try ConcordProcess(["serve", "messenger"] + arguments)
        #expect(await process.status() == 64)
        #expect(await process.standardError().contains(message))
    }
}
