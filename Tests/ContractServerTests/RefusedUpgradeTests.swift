import Backend
import Contract
import ContractServer
import HTTPTypes
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Testbed
import Testing
import WebSockets

/// A WebSocket that is refused is a request like any other: a real listener, over a real connection.
@Suite(.timeLimit(.minutes(30))) struct RefusedUpgradeTests {
    /// Serves a socket that admits no one.
    ///
    /// - Parameter asked: The number of times that the route was asked.
    private func withListener(
        asked: NIOLockedValueBox<Int> = NIOLockedValueBox(0), _ body: (_ port: Int, _ log: LogBook) async throws -> Void
    ) async throws {
        let log = LogBook()
        let route = SocketRoute(path: "/ws") { request, _ in
            asked.withLockedValue { $0 += 1 }
            let problem =
                request.path == "/ws?none" ? Problem(.notFound, "No such room") : Problem(.unauthorized, "Who are you?")
            return .refuse(problem, in: Sample.self)
        }
        let listener = Listener(
            Sample.table(log), sockets: [route], group: MultiThreadedEventLoopGroup.ofTests, limits: .patient)
        let port = try await reservePort()
        try await serving(listener, port: port) { try await body(port, log) }
    }

    private static func offer(_ path: String, version: Int = 13, _ fields: String = "") -> String {
        "GET \(path) HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            + "Sec-WebSocket-Version: \(version)\r\n\(fields)\r\n"
    }

    private static let keeping = "Connection: upgrade\r\n"

    @Test(arguments: [("/ws", 13, 401), ("/ws?none", 13, 404), ("/ws?a=b", 12, 426)])
    func aRefusalHasWhatEveryAnswerHas(path: String, version: Int, status: Int) async throws {
        try await withListener { port, log in
            let connection = try await RawConnection(port: port)
            try await connection.send(
                Self.offer(path, version: version, Self.keeping + "X-Request-Id: mine-\(status)\r\n"))
            let answer = try await connection.readResponse()
            #expect(answer.status == status)
            #expect(answer.fields["x-request-id"] == "mine-\(status)")
            #expect(answer.fields["date"] != nil)
            #expect(answer.fields["content-type"] == "application/json")
            #expect(answer.fields["x-content-type-options"] == "nosniff")
            #expect(answer.fields["cache-control"] == "private, no-cache")
            #expect(answer.fields["sec-websocket-version"] == (status == 426 ? "13" : nil))
            #expect(answer.fields["upgrade"] == (status == 426 ? "websocket" : nil))
            #expect(answer.fields["www-authenticate"] == (status == 401 ? "Bearer" : nil))
            #expect(answer.body.hasPrefix(#"{"error":""#))
            let lines = log.lines.filter { $0.contains("request=mine-\(status)") }
            #expect(lines.count == 1)
            #expect(lines.first?.contains("route=/ws status=\(status)") == true)

            // The connection goes on.
            try await connection.send("GET /things/7 HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await connection.readResponse().status == 200)
            await connection.close()
        }
    }

    @Test(arguments: [12, 13]) func aClientThatSaysCloseIsToldSoToo(version: Int) async throws {
        try await withListener { port, _ in
            let connection = try await RawConnection(port: port)
            let last = Self.offer("/ws", version: version, "Connection: upgrade, close\r\n")
            try await connection.send(last + Self.offer("/ws", Self.keeping))
            let answer = try await connection.readResponse()
            #expect(answer.status == (version == 13 ? 401 : 426))
            #expect(answer.fields["connection"] == "close")
            #expect(await connection.readToEnd().isEmpty)
            await connection.close()
        }
    }

    /// The offers of a client that reads nothing are not looked at before it has taken the refusals before them.
    @Test func offersOfAClientThatReadsNothingWait() async throws {
        let asked = NIOLockedValueBox(0)
        try await withListener(asked: asked) { port, _ in
            let connection = try await RawConnection(port: port, reading: false)
            let count = 20_000
            let offers = ByteBuffer(string: String(repeating: Self.offer("/ws", Self.keeping), count: count))
            let sent = connection.channel.eventLoop.makePromise(of: Void.self)
            connection.channel.writeAndFlush(offers, promise: sent)
            // Other requests are answered meanwhile, and show that nothing is left to do.
            let other = try await RawConnection(port: port)
            var before = -1
            while case let now = asked.withLockedValue({ $0 }), now == 0 || now > before {
                before = now
                for _ in 1...100 {
                    try await other.send("GET /things/7 HTTP/1.1\r\nHost: a\r\n\r\n")
                    #expect(try await other.readResponse().status == 200)
                }
            }
            // An answer has some 300 bytes: a MiB of them is far more than what the kernel takes.
            #expect(before < 3500)
            try await connection.channel.setOption(.autoRead, value: true).get()
            for _ in 0..<count {
                guard try await connection.readResponse().status == 401 else {
                    Issue.record("another answer than 401")
                    break
                }
            }
            try await sent.futureResult.get()
            await connection.close()
            await other.close()
        }
    }
}
