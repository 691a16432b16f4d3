import ContractClient
import Foundation
import MessengerClient
import NIOSockets
import Testbed
import Testing

/// `concord serve` starts, answers and stops as an operator expects.
@Suite(.timeLimit(.minutes(30))) struct ServeTests {
    private func url(_ port: Int) -> URL { URL(string: "http://127.0.0.1:\(port)")! }

    @Test func saysWhereItListensAndStopsWithZero() async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let process = try await ConcordProcess.serving(data: folder, port: port)
            #expect(process.standardOutput.contains("messenger    http://127.0.0.1:\(port)\n"))
            let raw = try await URLSessionTransport.patient.send(
                TransportRequest(method: .get, url: url(port).appendingPathComponent("ready")), progress: nil)
            #expect(raw.status == .ok)
            process.signal(SIGTERM)
            #expect(await process.status() == 0)
        }
    }

    @Test func finishesRequestsInFlightAndClosesSocketsWith1001() async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let process = try await ConcordProcess.serving(data: folder, port: port)
            let messenger = MessengerClient(baseURL: url(port), transport: .patient)
            try await messenger.send(
                Messenger.Register(username: "alice", email: "alice@example.com", password: "secret123"))
            try await messenger.signIn(username: "alice", password: "secret123")
            // A socket that does not sign in would be closed after ten seconds, with another code.
            let socket = try await messenger.openSocket(over: NIOSocketTransport())
            let half = try await RawConnection(port: port)
            try await half.send(
                "POST /auth/refresh HTTP/1.1\r\nHost: x\r\nContent-Length: 23\r\n\r\n{\"refresh_token\"")
            // When another connection is answered, the server has read the first half.
            _ = try await URLSessionTransport.patient.send(
                TransportRequest(method: .get, url: url(port).appendingPathComponent("health")), progress: nil)

            process.signal(SIGTERM)
            await #expect(throws: SocketClosed(code: 1001, reason: "Shutting down")) {
                while true { _ = try await socket.receive() }
            }
            try await half.send(":\"abc\"}")
            let answer = try await half.rest()
            #expect(answer.hasPrefix("HTTP/1.1 401"))
            #expect(answer.hasSuffix(#"{"error":"Invalid or expired refresh token"}"#))
            #expect(await process.status() == 0)
        }
    }

    @Test func refusesAPortThatIsTaken() async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let first = try await ConcordProcess.serving(data: folder + "/a", port: port)
            let second = try ConcordProcess(
                ["serve", "messenger", "--data", folder + "/b", "--port", "messenger=\(port)"])
            #expect(await second.status() != 0)
            #expect(await second.standardError().contains("Port \(port) on 127.0.0.1 is taken by another process"))
            first.signal(SIGTERM)
            #expect(await first.status() == 0)
        }
    }

    /// The bucket's client must not end the process before the error is reported.
    @Test func refusesAPortThatIsTakenWithABucketToo() async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let first = try await ConcordProcess.serving(data: folder + "/a", port: port)
            let second = try ConcordProcess(
                [
                    "serve", "messenger", "deuce-diary", "--data", folder + "/b", "--port", "messenger=\(port)",
                    "--port", "deuce-diary=0", "--objects", "s3://bucket?endpoint=http://127.0.0.1:9",
                ], environment: ["AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"])
            #expect(await second.status() == 1)
            #expect(await second.standardError().contains("Port \(port) on 127.0.0.1 is taken by another process"))
            first.signal(SIGTERM)
            #expect(await first.status() == 0)
        }
    }

    @Test func allAPIsAreServedAtOnce() async throws {
        try await withTemporaryFolder { folder in
            var arguments = ["serve", "--data", folder]
            var lines = ""
            var (ports, ids): ([Int], [String]) = ([], [])
            for api in ["messenger", "deuce-diary", "monica", "gtsd", "dunbar"] {
                let port = try await reservePort()
                ports.append(port)
                arguments += ["--port", "\(api)=\(port)"]
                let base = ["monica", "dunbar"].contains(api) ? "/api" : ""
                lines += api.padding(toLength: 13, withPad: " ", startingAt: 0) + "http://127.0.0.1:\(port)\(base)\n"
            }
            let process = try ConcordProcess(arguments)
            try await process.waitUntilReady()
            #expect(process.standardOutput == lines + "ready\n")
            for port in ports {
                let ready = try await URLSessionTransport.patient.send(
                    TransportRequest(method: .get, url: url(port).appendingPathComponent("ready")), progress: nil)
                #expect(ready.status == .ok)
                // Bytes that are not HTTP have a name too, and are logged.
                let connection = try await RawConnection(port: port)
                try await connection.send("nonsense\r\n\r\n")
                let answer = try await connection.rest()
                #expect(answer.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
                let line = answer.components(separatedBy: "\r\n").first { $0.hasPrefix("X-Request-Id: ") }
                let id = try #require(line?.dropFirst("X-Request-Id: ".count))
                #expect(UUID(uuidString: String(id)) != nil)
                #expect(answer.contains("Malformed request"))
                if port == ports[3] {
                    #expect(answer.hasSuffix(#"{"error":{"message":"Malformed request","requestId":"\#(id)"}}"#))
                }
                ids.append(String(id))
            }
            process.signal(SIGTERM)
            #expect(await process.status() == 0)
            let log = await process.standardError()
            for id in ids { #expect(log.contains(id)) }
        }
    }

    @Test func refusesAFolderThatItCannotWriteTo() async throws {
        try await withTemporaryFolder { folder in
            try Data().write(to: URL(fileURLWithPath: folder + "/file"))
            let process = try ConcordProcess(["serve", "messenger", "--data", folder + "/file/data"])
            #expect(await process.status() != 0)
            #expect(await process.standardError().contains("The data folder \(folder)/file/data cannot be created"))
        }
    }

    @Test func refusesAFolderThatAnotherServerUses() async throws {
        try await withTemporaryFolder { folder in
            let first = try await ConcordProcess.serving(data: folder, port: try await reservePort())
            let second = try ConcordProcess(["serve", "messenger", "--data", folder, "--port", "messenger=0"])
            #expect(await second.status() != 0)
            #expect(await second.standardError().contains("is in use by another concord"))
            first.signal(SIGTERM)
            #expect(await first.status() == 0)
        }
    }

    @Test(arguments: [
        (["serve", "messager"], "There is no API 'messager'. Known: messenger"),
        (["serve", "--prot", "messenger=1"], "Unknown option '--prot'. Did you mean '--port'?"),
        (["serve", "--port", "messenger=99999"], "99999 is not a port for messenger: 0 to 65535"),
        (["serve", "--port", "8080"], "'8080' is not NAME=VALUE with one of: messenger"),
        (["serve", "--log-level", "loud"], "'loud' is not a log level"),
        (["serve", "messenger", "messenger"], "Name each API once"),
        (["serve", "--public-url", "messenger=example.com"], "example.com is not a public URL for messenger"),
        (["serve", "--public-url", "gtsd=ftp://example.com"], "ftp://example.com is not a public URL for gtsd"),
        (["serve", "--public-url", "gtsd=https://"], "https:// is not a public URL for gtsd"),
        (["serve", "--max-connections", "0"], "A number of connections must be 1 or more"),
        (["serve", "--drain-delay=-1"], "--drain-delay must be 0 to 3600 seconds"),
        (["serve", "--trusted-proxy", "foo"], "'foo' is neither an IP address nor a network"),
        (["serve", "--trusted-proxy", "10.0.0.0/33"], "'10.0.0.0/33' is neither an IP address nor a network"),
        (["serve", "--bus", "kafka"], "The value 'kafka' is invalid for '--bus <local|postgres|redis://…>'"),
        (["serve", "--bus", "postgres"], "there is no PostgreSQL to listen on"),
        (
            ["serve", "--bus", "local", "--database", "postgres://user:secret@127.0.0.1:1/none"],
            "events of one node would not reach the others"
        ),
    ])
    func refusesArgumentsWithAReason(_ arguments: [String], _ words: String) async throws {
        let process = try ConcordProcess(arguments)
        #expect(await process.status() == 64)
        let errors = await process.standardError()
        #expect(errors.contains(words), "\(errors)")
        #expect(errors.contains("Usage: concord serve "), "\(errors)")
        #expect(!errors.contains("secret"))
    }

    @Test(arguments: [
        (["CONCORD_TRUSTED_PROXIES": "10.0.0.0/8, foo"], "CONCORD_TRUSTED_PROXIES: 'foo' is neither an IP address"),
        (["CONCORD_BUS": "postgres"], "there is no PostgreSQL to listen on"),
        (["CONCORD_BUS": "kafka"], "CONCORD_BUS has an invalid value"),
        (["CONCORD_PUBLIC_URL_DUNBAR": "dunbar.example"], "dunbar.example is not a public URL for dunbar"),
        (["CONCORD_MAX_CONNECTIONS_PER_ADDRESS": "many"], "CONCORD_MAX_CONNECTIONS_PER_ADDRESS has an invalid value"),
        (
            ["CONCORD_BUS": "local", "CONCORD_DATABASE": "postgres://user:secret@127.0.0.1:1/none"],
            "events of one node would not reach the others"
        ),
    ])
    func refusesVariablesWithAReason(_ environment: [String: String], _ words: String) async throws {
        let process = try ConcordProcess(["serve"], environment: environment)
        #expect(await process.status() == 64)
        let errors = await process.standardError()
        #expect(errors.contains(words))
        #expect(!errors.contains("secret"))
    }

    @Test(arguments: Stack.Engine.available)
    func usesTheBusOfTheDatabase(_ engine: Stack.Engine) async throws {
        try await withTestDatabase(on: engine) { place in
            let process = try await ConcordProcess.serving(
                data: place.folder, port: try await reservePort(),
                more: ["--bus", engine == .sqlite ? "local" : "postgres"],
                environment: ["CONCORD_DATABASE": place.url ?? "sqlite"])
            process.signal(SIGTERM)
            #expect(await process.status() == 0)
        }
    }

    @Test func helpNamesEverySetting() async throws {
        let process = try ConcordProcess(["serve", "--help"])
        #expect(await process.status() == 0)
        let help = await process.wholeOutput()
        for setting in [
            "--host", "--data", "--port", "--public-url", "--trusted-proxy", "--storage-quota", "--log-level",
            "--database", "--bus", "--objects", "--adopt-store", "--adopt-keys", "--allow-sweep",
            "--max-connections", "--max-connections-per-address", "--drain-delay",
            "CONCORD_MAX_CONNECTIONS", "CONCORD_MAX_CONNECTIONS_PER_ADDRESS", "CONCORD_DRAIN_DELAY",
            "CONCORD_DATABASE", "CONCORD_BUS", "CONCORD_OBJECTS",
            "--log-format", "CONCORD_HOST", "CONCORD_DATA", "CONCORD_PORT_MESSENGER", "CONCORD_PUBLIC_URL_MESSENGER",
            "CONCORD_TRUSTED_PROXIES", "CONCORD_STORAGE_QUOTA", "CONCORD_LOG_LEVEL", "CONCORD_LOG_FORMAT",
            "CONCORD_MESSENGER_TOKEN_KEY", "CONCORD_MONICA_REQUEST_KEY", "deuce-diary=8081",
            "CONCORD_DEUCE_DIARY_REQUEST_KEY",
            "CONCORD_DEUCE_DIARY_ISSUER_KEY", "--deuce-diary-issuer", "CONCORD_DEUCE_DIARY_ISSUER",
            "--deuce-diary-key-set", "CONCORD_DEUCE_DIARY_KEY_SET", "--deuce-diary-party",
            "CONCORD_DEUCE_DIARY_PARTIES", "--deuce-diary-sockets", "CONCORD_DEUCE_DIARY_SOCKETS",
            "--deuce-diary-redirect", "CONCORD_DEUCE_DIARY_REDIRECT",
        ] {
            #expect(help.contains(setting), "\(setting)")
        }
    }

    @Test func logsRequestsWithTheirIdsAndWithoutSecrets() async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let process = try await ConcordProcess.serving(data: folder, port: port, more: ["--log-format", "json"])
            let store = MemoryTokenStore()
            let client = MessengerClient(baseURL: url(port), store: store, transport: .patient)
            let register = Messenger.Register(
                username: "alice", email: "alice@example.com", password: "a-very-secret-word")
            let answer = try await client.answer(register)
            try await client.signIn(username: "alice", password: "a-very-secret-word")
            let token = try #require(await store.load()?.accessToken)
            try await client.send(Messenger.SearchUsers("needle-in-a-query"))
            process.signal(SIGTERM)
            let log = await process.standardError()

            let id = try #require(answer.headers[.requestID])
            let lines = log.split(separator: "\n").map { Data($0.utf8) }
            let entries = try lines.map { try #require(JSONSerialization.jsonObject(with: $0) as? [String: Any]) }
            let entry = try #require(entries.first { $0["request"] as? String == id })
            #expect(entry["route"] as? String == "/auth/register")
            // Numbers are numbers, so that a collector can add them up.
            #expect(entry["status"] as? Int == 201)
            #expect(try #require(entry["microseconds"] as? Int) > 0)
            #expect(log.contains(#","status":201}"#))
            for secret in ["a-very-secret-word", token, "needle-in-a-query", "alice@example.com"] {
                #expect(!log.contains(secret))
            }
        }
    }

    @Test func keepsKeysPrivateAndSessionsAcrossARestart() async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let client = MessengerClient(baseURL: url(port), transport: .patient)
            let first = try await ConcordProcess.serving(data: folder, port: port)
            try await client.send(
                Messenger.Register(username: "alice", email: "alice@example.com", password: "secret123"))
            try await client.signIn(username: "alice", password: "secret123")
            first.signal(SIGTERM)
            #expect(await first.status() == 0)

            let keys = try FileManager.default.contentsOfDirectory(atPath: folder + "/keys")
            #expect(keys.sorted() == ["messenger-tokens"])
            for key in keys {
                let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder)/keys/\(key)")
                #expect(attributes[.posixPermissions] as? Int == 0o600)
            }

            let second = try await ConcordProcess.serving(data: folder, port: port)
            #expect(try await client.send(Messenger.GetMe()).username == "alice")
            second.signal(SIGTERM)
            #expect(await second.status() == 0)
        }
    }
}
