import ContractClient
import Foundation
import GTSDClient
import HTTPTypes
import MessengerClient
import Testbed
import Testing

/// `traceparent`, and the spans that `concord serve --otlp URL` sends.
@Suite(.timeLimit(.minutes(30))) struct TracingTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let parent = "00f067aa0ba902b7"

    /// Asks for chats without a token, which is a 401.
    private func ask(_ port: Int, _ id: String, traceparent: String?) async throws {
        var request = TransportRequest(method: .get, url: URL(string: "http://127.0.0.1:\(port)/chats")!)
        request.headers[.requestID] = id
        if let traceparent { request.headers[HTTPField.Name("traceparent")!] = traceparent }
        #expect(try await URLSessionTransport.patient.send(request, progress: nil).status == .unauthorized)
    }

    private func lines(_ log: String) throws -> [[String: Any]] {
        try log.split(separator: "\n").map {
            try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    /// A malformed header is ignored, as the standard demands.
    @Test func theClientsTraceIsInTheLog() async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let server = try await ConcordProcess.serving(data: folder, port: port, more: ["--log-format", "json"])
            try await ask(port, "good", traceparent: "00-\(Self.trace)-\(Self.parent)-01")
            try await ask(port, "later", traceparent: "cc-\(Self.trace)-\(Self.parent)-01-more")
            let malformed = [
                "00-\(Self.trace)-\(Self.parent)", "00-\(Self.trace.uppercased())-\(Self.parent)-01",
                "00-\(String(repeating: "0", count: 32))-\(Self.parent)-01", "ff-\(Self.trace)-\(Self.parent)-01",
                "00-\(Self.trace)-0000000000000000-01", "00-\(Self.trace)-\(Self.parent)-01-more", "nonsense",
            ]
            for (index, text) in malformed.enumerated() { try await ask(port, "bad\(index)", traceparent: text) }
            try await ask(port, "none", traceparent: nil)
            server.signal(SIGTERM)
            let entries = try lines(await server.standardError()).filter { $0["message"] as? String == "request" }
            #expect(entries.count == malformed.count + 3)
            for entry in entries {
                let isGood = ["good", "later"].contains(entry["request"] as? String)
                #expect(entry["trace"] as? String == (isGood ? Self.trace : nil), "\(entry)")
            }
        }
    }

    @Test(arguments: Stack.Engine.available)
    func requestsAndTheirTransactionsAreSpans(on engine: Stack.Engine) async throws {
        try await withTestDatabase(on: engine) { place in
            let (port, collectorPort) = (try await reservePort(), try await reservePort())
            let collector = try await TestCollector(port: collectorPort)
            let server = try await ConcordProcess.serving(
                data: place.folder, port: port,
                more: ["--otlp", "http://127.0.0.1:\(collectorPort)", "--log-format", "json"]
                    + (place.url.map { ["--database", $0] } ?? []))
            let client = MessengerClient(baseURL: URL(string: "http://127.0.0.1:\(port)")!, transport: .patient)
            let registered = try await client.answer(
                Messenger.Register(username: "alice", email: "alice@example.com", password: "secret123"))
            try await ask(port, "given", traceparent: "00-\(Self.trace)-\(Self.parent)-01")
            // The client does not record this trace, so the server does not, either.
            let silent = String(repeating: "a", count: 32)
            try await ask(port, "silent", traceparent: "00-\(silent)-\(Self.parent)-00")
            try await ask(port, "malformed", traceparent: "00-nonsense")

            let spans = try await collector.wait { spans in
                ["malformed", "given"].allSatisfy { id in spans.contains { $0.attributes["concord.request"] == id } }
            }
            let id = try #require(registered.headers[.requestID])
            let request = try #require(spans.first { $0.attributes["concord.request"] == id })
            #expect(request.name == "POST /auth/register")
            #expect(request.kind == 2 && request.parent == nil && request.statusCode == 0)
            #expect(request.attributes["http.response.status_code"] == "201")
            #expect(request.attributes["http.route"] == "/auth/register")
            #expect(request.attributes["concord.api"] == "messenger")
            let transactions = spans.filter { $0.parent == request.id }
            #expect(transactions.contains { $0.name == "database write" && $0.kind == 3 })
            for span in transactions {
                #expect(span.trace == request.trace)
                #expect(span.attributes["db.system.name"] == (engine == .sqlite ? "sqlite" : "postgresql"))
                #expect(span.nanoseconds > 0 && span.nanoseconds <= request.nanoseconds)
            }
            let given = try #require(spans.first { $0.attributes["concord.request"] == "given" })
            #expect(given.trace == Self.trace && given.parent == Self.parent)
            let malformed = try #require(spans.first { $0.attributes["concord.request"] == "malformed" })
            #expect(malformed.parent == nil && malformed.trace.count == 32)
            #expect(!spans.contains { $0.trace == silent })

            server.signal(SIGTERM)
            #expect(await server.status() == 0)
            let entries = try lines(await server.standardError())
            let entry = try #require(entries.first { $0["request"] as? String == id })
            #expect(entry["trace"] as? String == request.trace)
            try await collector.close()
        }
    }

    /// Requests are answered while the collector is away. It gets the spans when it is there.
    @Test func aCollectorThatIsAwayDisturbsNoRequest() async throws {
        try await withTemporaryFolder { folder in
            let (port, collectorPort, operatorPort) = (
                try await reservePort(), try await reservePort(), try await reservePort()
            )
            let server = try await ConcordProcess.serving(
                data: folder, port: port,
                more: ["--otlp", "http://127.0.0.1:\(collectorPort)", "--port", "operator=\(operatorPort)"])
            for index in 0..<20 { try await ask(port, "early\(index)", traceparent: nil) }
            try await server.waitForLog { $0.contains("the collector of traces does not answer") }
            try await ask(port, "later", traceparent: nil)
            let collector = try await TestCollector(port: collectorPort)
            _ = try await collector.wait { $0.contains { $0.attributes["concord.request"] == "later" } }
            // The last ones are sent at the end.
            try await ask(port, "last", traceparent: nil)
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
            #expect(try collector.spans().contains { $0.attributes["concord.request"] == "last" })
            try await collector.close()
        }
    }

    @Test(arguments: [
        (["--otlp", "localhost:4318"], "localhost:4318 is no URL of a collector"),
        (["--otlp-ratio", "2"], "--otlp-ratio is a number from 0 to 1"),
    ])
    func refusesSettings(_ arguments: [String], _ message: String) async throws {
        let process = try ConcordProcess(["serve", "messenger"] + arguments)
        #expect(await process.status() == 64)
        let errors = await process.standardError()
        #expect(errors.contains(message), "\(errors)")
    }
}

/// Calls of a bucket are spans of the request that waits for them.
@Suite(
    .s3Server, .enabled(if: StockTools.rclone != nil, "`make test` installs rclone and sets CONCORD_PYTHON"),
    .timeLimit(.minutes(30)))
struct BucketTracingTests {
    @Test func callsOfABucketAreSpans() async throws {
        let bucket = try #require(S3Server.current)
        try await withTestDatabase(on: .sqlite) { place in
            let (port, collectorPort) = (try await reservePort(), try await reservePort())
            let collector = try await TestCollector(port: collectorPort)
            let server = try await ConcordProcess.serving(
                data: place.folder, port: port,
                more: ["--otlp", "http://127.0.0.1:\(collectorPort)", "--objects", bucket.place()],
                environment: [
                    "AWS_ACCESS_KEY_ID": S3Server.accessKeyID, "AWS_SECRET_ACCESS_KEY": S3Server.secretAccessKey,
                ])
            let client = MessengerClient(baseURL: URL(string: "http://127.0.0.1:\(port)")!, transport: .patient)
            try await client.send(
                Messenger.Register(username: "alice", email: "alice@example.com", password: "secret123"))
            try await client.signIn(username: "alice", password: "secret123")
            let file = try await client.upload(Upload(.bytes([1, 2, 3]), filename: "a.txt"))
            let spans = try await collector.wait { $0.contains { $0.attributes["http.route"] == "/files" } }
            let upload = try #require(spans.first { $0.attributes["http.route"] == "/files" })
            let call = try #require(spans.first { $0.name == "S3 PutObject" && $0.parent == upload.id })
            #expect(call.attributes["http.response.status_code"] == "200" && call.kind == 3)
            // No key or signature leaves the server with a span.
            #expect(!"\(spans)".contains("X-Amz") && file.id.isValid)
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
            try await collector.close()
        }
    }
}
