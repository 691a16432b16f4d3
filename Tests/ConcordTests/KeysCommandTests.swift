import Contract
import ContractCheck
import ContractClient
import DunbarClient
import Foundation
import GTSDClient
import MessengerClient
import NIOSockets
import Testbed
import Testing

/// `concord keys` and `sign-out-everybody` work while a server runs.
@Suite(.timeLimit(.minutes(30))) struct KeysCommandTests {
    private func concord(_ arguments: [String], _ environment: [String: String] = [:]) async throws -> (
        status: Int32, output: String, errors: String
    ) {
        let process = try ConcordProcess(arguments, environment: environment)
        let output = await process.wholeOutput()
        return (await process.status(), output, await process.standardError())
    }

    private func url(_ port: Int) throws -> URL { try #require(URL(string: "http://127.0.0.1:\(port)")) }

    /// Registers a user of Messenger, and returns the access token.
    private func token(of name: String, at url: URL) async throws -> String {
        let raw = RawClient(baseURL: url, transport: .patient)
        _ = try await MessengerClient(baseURL: url, transport: .patient, retry: .never).send(
            Messenger.Register(username: name, email: "\(name)@example.com", password: "secret123"))
        return try await signIn(name, raw)
    }

    private func signIn(_ name: String, _ raw: RawClient) async throws -> String {
        let answer = try await raw.send(
            .post, "/auth/login", headers: [.contentType: "application/json"],
            body: #"{"username":"\#(name)","password":"secret123"}"#)
        return try #require(try answer.json()["access_token"]?.string, "\(answer.text)")
    }

    private func status(of token: String, _ raw: RawClient, _ path: String = "/me") async throws -> Int {
        try await raw.send(.get, path, token: token).status
    }

    /// Makes a group under an `Idempotency-Key`, and returns the answer with its id.
    private func group(_ key: String, of token: String, _ raw: RawClient) async throws -> String {
        let answer = try await raw.send(
            .post, "/chats", token: token, headers: [.contentType: "application/json", .idempotencyKey: key],
            body: #"{"type":"group","name":"Once","member_ids":[]}"#)
        #expect(answer.status == 201, "\(answer.text)")
        return answer.text
    }

    /// Returns the status of fetching a file.
    private func download(_ url: URL) async throws -> Int {
        let request = TransportRequest(method: .get, url: url)
        return try await URLSessionTransport.patient.send(request, progress: nil).status.code
    }

    /// Tokens, sessions, sockets, repeats under an `Idempotency-Key` and links from before a rotation go on. Tokens and
    /// links end when the former key is dropped.
    @Test(arguments: Stack.Engine.available)
    func aRotationEndsNothing(_ engine: Stack.Engine) async throws {
        try await withTestDatabase(on: engine) { place in
            let more = ["--data", place.folder] + (place.url.map { ["--database", $0] } ?? [])
            let port = try await reservePort()
            let serve = ["serve", "messenger", "--port", "messenger=\(port)"] + more
            var server = try ConcordProcess(serve)
            try await server.waitUntilReady()
            let raw = RawClient(baseURL: try url(port), transport: .patient)
            let old = try await token(of: "alice", at: try url(port))
            let bob = MessengerClient(baseURL: try url(port), transport: .patient, retry: .never)
            try await bob.send(Messenger.Register(username: "bob", email: "bob@example.com", password: "secret123"))
            try await bob.signIn(username: "bob", password: "secret123")
            let chat = try await bob.send(Messenger.CreateChat.group("Team", members: [])).id
            let socket = try await bob.openSocket(over: NIOSocketTransport())
            try await socket.send(Messenger.Subscribe(chat: chat))
            #expect(try await socket.receive() == Messenger.Subscribed(chat: chat))

            let file = try await bob.upload(
                Upload(.bytes(Array("text".utf8)), filename: "a.txt", contentType: "text/plain"))
            let (once, link) = (try await group("k-1", of: old, raw), try await bob.downloadURL(of: file.id))
            #expect(try await download(link) == 200)

            let rotated = try await concord(["keys", "rotate", "messenger-tokens", "--only-node"] + more)
            #expect(rotated.status == 0, "\(rotated.errors)")
            #expect(rotated.output.hasPrefix("messenger-tokens has a new key."), "\(rotated.output)")
            let new = try await signIn("alice", raw)
            #expect(try await status(of: old, raw) == 200)
            #expect(try await status(of: new, raw) == 200)
            // The header names the key, and the two differ.
            #expect(old.split(separator: ".").first != new.split(separator: ".").first)
            let sent = try await bob.send(Messenger.SendMessage(chat: chat, content: "still here"))
            #expect(try await socket.receive() == sent.message)

            // Neither a repeat nor a link that was handed out is refused.
            #expect(try await group("k-1", of: new, raw) == once)
            #expect(try await download(link) == 200)

            // A restart has both keys, too, and says nothing about them.
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
            server = try ConcordProcess(serve)
            try await server.waitUntilReady()
            #expect(try await status(of: old, raw) == 200)
            #expect(try await status(of: new, raw) == 200)
            #expect(try await group("k-1", of: new, raw) == once)
            #expect(try await download(link) == 200)
            let listed = try await concord(["keys", "list", "--json", "--data", place.folder])
            let line = try #require(listed.output.split(separator: "\n").first { $0.contains("messenger-tokens") })
            #expect(line.contains(#""former_since":"20"#), "\(line)")

            let dropped = try await concord(["keys", "drop-former", "messenger-tokens"] + more)
            #expect(dropped.status == 0, "\(dropped.errors)")
            #expect(try await status(of: old, raw) == 401)
            #expect(try await status(of: new, raw) == 200)
            #expect(try await download(link) == 403)
            let again = try await concord(["keys", "drop-former", "messenger-tokens"] + more)
            #expect(again.status == 1)
            #expect(again.errors == "Error: messenger-tokens has no former key\n")
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
            #expect(!(await server.standardError().contains("the key messenger-tokens")))
        }
    }

    /// The command does the same without a server, and the next start knows both keys.
    @Test func aRotationNeedsNoServer() async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let serve = ["serve", "gtsd", "--data", folder, "--port", "gtsd=\(port)"]
            var server = try ConcordProcess(serve)
            try await server.waitUntilReady()
            let anna = GTSDClient(baseURL: try url(port), transport: .patient, retry: .never)
            try await anna.signUp(email: "anna@example.com", password: "Secret-123")
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
            let rotated = try await concord(["keys", "rotate", "gtsd-tokens", "--data", folder])
            #expect(rotated.status == 0, "\(rotated.errors)")
            server = try ConcordProcess(serve)
            try await server.waitUntilReady()
            #expect(try await anna.send(GTSD.GetMe()).data.email == "anna@example.com")
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
            #expect(!(await server.standardError().contains("the key gtsd-tokens")))
        }
    }

    /// Deuce Diary's tokens are made by a command, which reads the key itself.
    @Test func theIssuerOfDeuceDiaryIsRotatedToo() async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let server = try ConcordProcess(
                ["serve", "deuce-diary", "--data", folder, "--port", "deuce-diary=\(port)"])
            try await server.waitUntilReady()
            let raw = RawClient(baseURL: try url(port), transport: .patient)
            let old = try await ConcordProcess.diaryToken("user_a", folder)
            #expect(try await status(of: old, raw, "/api/auth/user") == 200)
            let rotated = try await concord(["keys", "rotate", "deuce-diary-issuer", "--data", folder])
            #expect(rotated.status == 0, "\(rotated.errors)")
            let new = try await ConcordProcess.diaryToken("user_a", folder)
            for token in [old, new] { #expect(try await status(of: token, raw, "/api/auth/user") == 200) }
            let dropped = try await concord(["keys", "drop-former", "deuce-diary-issuer", "--data", folder])
            #expect(dropped.status == 0, "\(dropped.errors)")
            #expect(try await status(of: old, raw, "/api/auth/user") == 401)
            #expect(try await status(of: new, raw, "/api/auth/user") == 200)
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }

    @Test func whatCannotBeRotatedIsSaid() async throws {
        try await withTemporaryFolder { folder in
            let data = ["--data", folder]
            let port = try await reservePort()
            let server = try ConcordProcess(
                ["serve", "monica", "messenger", "--port", "monica=\(port)", "--port", "messenger=0"] + data)
            try await server.waitUntilReady()
            let unknown = try await concord(["keys", "rotate", "telephone"] + data)
            #expect(unknown.status == 64)
            #expect(
                unknown.errors.contains("There is no key 'telephone' that can be replaced. Known: messenger-tokens"))
            let rotated = try await concord(["keys", "rotate", "monica-requests"] + data)
            #expect(rotated.status == 0, "\(rotated.errors)")
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
            let list = try await concord(["keys", "list"] + data)
            #expect(list.output.contains("gtsd-tokens\tgtsd\tmissing\t-\n"), "\(list.output)")
            #expect(list.output.contains("messenger-tokens\tmessenger\t\(folder)/keys/messenger-tokens\t"))
        }
    }

    /// The printed steps give all nodes a new key, one after the other, while tokens of both keys are accepted.
    @Test(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"))
    func severalNodesAreRotatedStepByStep() async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            let key = Data(repeating: 42, count: 32).base64EncodedString()
            let common = ["CONCORD_DATABASE": try #require(place.url)]
            let name = "CONCORD_MESSENGER_TOKEN_KEY"
            let ports = [try await reservePort(), try await reservePort()]
            func start(_ node: Int, _ keys: [String: String]) async throws -> ConcordProcess {
                let folder = "\(place.folder)/\(node)"
                if !FileManager.default.fileExists(atPath: folder) {
                    try DrillNode.shareFiles(of: folder, at: place.folder + "/files")
                }
                return try await ConcordProcess.serving(
                    data: folder, port: ports[node], environment: common.merging(keys) { $1 })
            }
            var nodes: [ConcordProcess] = []
            for node in 0..<2 { nodes.append(try await start(node, [name: key])) }
            let clients = try ports.map { RawClient(baseURL: try url($0), transport: .patient) }
            let old = try await token(of: "alice", at: try url(ports[0]))
            func restart(_ node: Int, _ keys: [String: String]) async throws {
                nodes[node].signal(SIGTERM)
                #expect(await nodes[node].status() == 0)
                nodes[node] = try await start(node, keys)
            }
            func everyTokenIsAccepted(_ tokens: [String]) async throws {
                for token in tokens { for raw in clients { #expect(try await status(of: token, raw) == 200) } }
            }

            let printed = try await concord(
                ["keys", "rotate", "messenger-tokens", "--data", place.folder + "/0"],
                common.merging([name: key]) { $1 })
            #expect(printed.status == 0, "\(printed.errors)")
            let match = try #require(printed.output.firstMatch(of: #/KEY_FORMER=(\S+)/#), "\(printed.output)")
            let new = String(match.output.1)
            #expect(printed.output.contains("\(name)=\(key)") && new != key)

            // A node that signs with the new key is refused as long as the others would not accept it.
            nodes[1].signal(SIGTERM)
            #expect(await nodes[1].status() == 0)
            let early = try ConcordProcess(
                ["serve", "messenger", "--data", place.folder + "/1", "--port", "messenger=\(ports[1])"],
                environment: common.merging([name: new, name + "_FORMER": key]) { $1 })
            #expect(await early.status() == 1)
            #expect(await early.standardError().contains("First start every node with the old key as"))
            nodes[1] = try await start(1, [name: key])

            for node in 0..<2 { try await restart(node, [name: key, name + "_FORMER": new]) }
            try await restart(0, [name: new, name + "_FORMER": key])
            let middle = [try await signIn("alice", clients[0]), try await signIn("alice", clients[1])]
            try await everyTokenIsAccepted([old] + middle)
            // A node that is started again in between is not refused.
            try await restart(1, [name: key, name + "_FORMER": new])
            try await restart(1, [name: new, name + "_FORMER": key])
            let later = try await signIn("alice", clients[1])
            try await everyTokenIsAccepted([old, later] + middle)
            for node in 0..<2 { try await restart(node, [name: new]) }
            try await everyTokenIsAccepted([later])
            #expect(try await status(of: old, clients[0]) == 401)
            for node in nodes {
                node.signal(SIGTERM)
                #expect(await node.status() == 0)
            }
        }
    }

    // MARK: Signing everybody out

    @Test(arguments: Stack.Engine.available)
    func everybodyIsSignedOut(_ engine: Stack.Engine) async throws {
        try await withTestDatabase(on: engine) { place in
            let more = ["--data", place.folder] + (place.url.map { ["--database", $0] } ?? [])
            let ports = (try await reservePort(), try await reservePort(), try await reservePort())
            let server = try ConcordProcess(
                [
                    "serve", "messenger", "gtsd", "dunbar", "--port", "messenger=\(ports.0)", "--port",
                    "gtsd=\(ports.1)", "--port", "dunbar=\(ports.2)",
                ] + more)
            try await server.waitUntilReady()
            let bob = MessengerClient(baseURL: try url(ports.0), transport: .patient, retry: .never)
            try await bob.send(Messenger.Register(username: "bob", email: "bob@example.com", password: "secret123"))
            try await bob.signIn(username: "bob", password: "secret123")
            let socket = try await bob.openSocket(over: NIOSocketTransport())
            let token = try await token(of: "alice", at: try url(ports.0))
            let anna = GTSDClient(baseURL: try url(ports.1), transport: .patient, retry: .never)
            try await anna.signUp(email: "anna@example.com", password: "Secret-123")
            let carl = DunbarClient(
                baseURL: try url(ports.2).appendingPathComponent("api"), store: MemoryCookieStore(),
                transport: .patient, retry: .never)
            try await carl.register(
                .init(username: "carl", email: "carl@example.com", password: "secret123", displayName: "Carl"))
            #expect(try await carl.currentUser() != nil)

            let messenger = try await concord(["messenger", "sign-out-everybody"] + more)
            #expect(messenger.status == 0, "\(messenger.errors)")
            #expect(messenger.output == "2 sessions have ended\n")
            await #expect(throws: SocketClosed(code: 4001, reason: "Session ended")) { _ = try await socket.receive() }
            let raw = RawClient(baseURL: try url(ports.0), transport: .patient)
            #expect(try await status(of: token, raw) == 401)
            await #expect(throws: (any Error).self) { try await bob.send(Messenger.GetMe()) }
            // Signing in again works.
            #expect(try await status(of: try await signIn("alice", raw), raw) == 200)

            #expect(try await concord(["gtsd", "sign-out-everybody"] + more).output == "1 session has ended\n")
            // A valid session is remembered for a second.
            let start = ContinuousClock.now
            while (try? await anna.send(GTSD.GetMe())) != nil {
                try #require(ContinuousClock.now < start + .seconds(900), "the session never ended")
                try await Task.sleep(for: .milliseconds(50))
            }
            #expect(try await concord(["dunbar", "sign-out-everybody"] + more).output == "1 session has ended\n")
            #expect(try await carl.currentUser() == nil)
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }
}
