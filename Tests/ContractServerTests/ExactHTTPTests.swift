import Backend
import Contract
import ContractServer
import NIOCore
import NIOPosix
import Testbed
import Testing

/// The server follows RFC 9110 and RFC 9112 byte by byte over a real connection.
@Suite(.timeLimit(.minutes(30)))
struct ExactHTTPTests {
    private func withServer(_ log: LogBook = LogBook(), _ body: (Int) async throws -> Void) async throws {
        let port = try await reservePort()
        let listener = Listener(
            Sample.table(log), sockets: [], group: MultiThreadedEventLoopGroup.ofTests, limits: .patient)
        try await serving(listener, port: port) { try await body(port) }
    }

    /// Sends a text and returns the answer, and the rest that came until the server closed.
    private func ask(_ port: Int, _ text: String, hasBody: Bool = true) async throws -> (
        RawConnection.Response, rest: String
    ) {
        let connection = try await RawConnection(port: port)
        try await connection.send(text)
        let response = try await connection.readResponse(hasBody: hasBody)
        try? await connection.finish()
        return (response, String(decoding: await connection.readToEnd(), as: UTF8.self))
    }

    // MARK: Bodies

    /// A compressed body is refused by its head, and the connection goes on behind it, however large it is.
    @Test(arguments: [5, 100_000, 2_000_000]) func aCompressedBodyIsRefusedBeforeItIsRead(_ size: Int) async throws {
        try await withServer { port in
            let connection = try await RawConnection(port: port)
            let head = "POST /say HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\nContent-Length: \(size)\r\n\r\n"
            // Small bodies come with their heads.
            let isSmall = size < 100
            try await connection.send(head + String(repeating: "x", count: isSmall ? size : 1))
            let answer = try await connection.readResponse()
            #expect(answer.status == 415)
            #expect(answer.body.contains("Content-Encoding is not supported"))
            #expect(answer.fields["accept-encoding"] == "identity")
            #expect(answer.fields["connection"] == nil)
            if !isSmall { try await connection.send(String(repeating: "x", count: size - 1)) }
            try await connection.send("GET /things/7 HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await connection.readResponse().status == 200)
            try? await connection.finish()
        }
    }

    @Test(arguments: [
        ("identity", 200), ("Identity , identity", 200), ("", 200), ("x-gzip", 415), ("aws-chunked", 415),
    ])
    func onlyIdentityIsACodingOfABody(_ coding: String, _ status: Int) async throws {
        try await withServer { port in
            let body = #"{"text":"hi"}"#
            let (answer, _) = try await ask(
                port,
                "POST /say HTTP/1.1\r\nHost: a\r\nContent-Encoding: \(coding)\r\nContent-Length: \(body.count)\r\n\r\n\(body)"
            )
            #expect(answer.status == status)
            // Where there is no body to read, its coding does not matter.
            let (get, _) = try await ask(
                port, "GET /things/7 HTTP/1.1\r\nHost: a\r\nContent-Encoding: \(coding)\r\n\r\n")
            #expect(get.status == 200)
        }
    }

    // MARK: HEAD

    @Test func headIsGETWithoutABody() async throws {
        try await withServer { port in
            for path in ["/things/7", "/choose?how=long", "/plain/abc", "/nowhere"] {
                let (get, _) = try await ask(port, "GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
                let (head, rest) = try await ask(port, "HEAD \(path) HTTP/1.1\r\nHost: a\r\n\r\n", hasBody: false)
                #expect(rest == "", "\(path)")
                #expect(head.status == get.status)
                #expect(get.body != "")
                for field in ["content-length", "content-type", "etag", "cache-control", "vary"] {
                    #expect(head.fields[field] == get.fields[field], "\(path) \(field)")
                }
            }
        }
    }

    @Test func headOfAnotherRouteIs405WithoutABody() async throws {
        try await withServer { port in
            let (head, rest) = try await ask(port, "HEAD /say HTTP/1.1\r\nHost: a\r\n\r\n", hasBody: false)
            #expect(head.status == 405)
            #expect(head.fields["allow"] == "POST")
            #expect(rest == "")
        }
    }

    /// The next answer on the connection starts right after the head.
    @Test func theNextAnswerFollowsAHEAD() async throws {
        try await withServer { port in
            let connection = try await RawConnection(port: port)
            for path in ["/say", "/things/7", "/nowhere"] {
                try await connection.send(
                    "HEAD \(path) HTTP/1.1\r\nHost: a\r\n\r\nGET /things/8 HTTP/1.1\r\nHost: a\r\n\r\n")
                _ = try await connection.readResponse(hasBody: false)
                #expect(try await connection.readResponse().body == #"{"text":"thing 8"}"#)
            }
            await connection.close()
        }
    }

    // MARK: Host and versions

    @Test(arguments: [
        "GET /things/7 HTTP/1.1\r\n\r\n",
        "GET /things/7 HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
        "GET /things/7 HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n",
        "GET /things/7 HTTP/1.0\r\nHost: a\r\nHOST: b\r\n\r\n",
        "POST /say HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}",
        "GET /ws HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    ])
    func aRequestHasExactlyOneHost(_ request: String) async throws {
        try await withServer { port in
            // The bytes that follow are not read as a request.
            let (answer, rest) = try await ask(port, request + "GET /things/8 HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(answer.status == 400)
            #expect(answer.fields["connection"] == "close")
            #expect(answer.body.hasPrefix(#"{"error":"A request has exactly one Host field","request":""#))
            #expect(rest == "")
        }
    }

    @Test func aRequestBeforeTheRefusedOneIsAnswered() async throws {
        try await withServer { port in
            let connection = try await RawConnection(port: port)
            try await connection.send("GET /things/7 HTTP/1.1\r\nHost: a\r\n\r\nGET /things/8 HTTP/1.1\r\n\r\n")
            #expect(try await connection.readResponse().body == #"{"text":"thing 7"}"#)
            #expect(try await connection.readResponse().status == 400)
            #expect(await connection.readToEnd().isEmpty)
            await connection.close()
        }
    }

    @Test func http10NeedsNoHostAndEndsWithItsAnswer() async throws {
        try await withServer { port in
            let connection = try await RawConnection(port: port)
            try await connection.send("GET /things/7 HTTP/1.0\r\n\r\n")
            #expect(try await connection.readResponse().body == #"{"text":"thing 7"}"#)
            #expect(await connection.readToEnd().isEmpty)
            await connection.close()
        }
    }

    @Test(arguments: [
        "POST /say HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        "GET /ws HTTP/1.0\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    ])
    func http10HasNeitherChunksNorUpgrades(_ request: String) async throws {
        try await withServer { port in
            let (answer, rest) = try await ask(port, request)
            #expect(answer.status == 400)
            #expect(answer.fields["connection"] == "close")
            #expect(rest == "")
        }
    }

    @Test(arguments: [
        "X-Large: \(String(repeating: "x", count: 17_000))\r\n",
        (0..<3).map { "X-\($0): \(String(repeating: "x", count: 12_000))\r\n" }.joined(),
        (0..<101).map { "X-\($0): x\r\n" }.joined(),
    ])
    func aHeaderThatIsTooLargeIs431(_ fields: String) async throws {
        try await withServer { port in
            let (answer, _) = try await ask(port, "GET /things/7 HTTP/1.1\r\nHost: a\r\n\(fields)\r\n")
            #expect(answer.status == 431)
            #expect(answer.body.contains("at most 16 KiB a field, 32 KiB and 100 fields in all"))
        }
    }

    // MARK: Expect: 100-continue

    private let expecting = "Host: a\r\nExpect: 100-continue\r\nContent-Length: 14\r\n"

    @Test func aWaitingClientIsToldToContinue() async throws {
        try await withServer { port in
            let connection = try await RawConnection(port: port)
            for _ in 1...2 {
                try await connection.send("POST /say HTTP/1.1\r\n\(expecting)\r\n")
                #expect(try await connection.readResponse().status == 100)
                try await connection.send(#"{"text":"now"}"#)
                #expect(try await connection.readResponse().body == #"{"text":"now"}"#)
            }
            await connection.close()
        }
    }

    @Test(arguments: [
        ("POST /nowhere", 404), ("PUT /say", 405), ("POST /things/1/notes", 401),
    ])
    func aRefusedClientIsNotToldToContinue(_ request: String, _ status: Int) async throws {
        try await withServer { port in
            let (answer, rest) = try await ask(port, "\(request) HTTP/1.1\r\n\(expecting)\r\n")
            #expect(answer.status == status)
            #expect(answer.fields["connection"] == "close")
            #expect(rest == "")
        }
    }

    @Test func largeBodiesAreRefusedBeforeTheyAreSent() async throws {
        try await withServer { port in
            let (answer, _) = try await ask(
                port, "POST /say HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2000000\r\n\r\n")
            #expect(answer.status == 413)
        }
    }

    @Test func aClientThatDoesNotWaitIsNotAskedTo() async throws {
        try await withServer { port in
            let (answer, _) = try await ask(port, "POST /say HTTP/1.1\r\n\(expecting)\r\n" + #"{"text":"now"}"#)
            #expect(answer.status == 200)
        }
    }

    /// The body may arrive in pieces, before or after the server has asked for it.
    @Test func aLargeBodyIsReadAsItIsAskedFor() async throws {
        try await withServer { port in
            let connection = try await RawConnection(port: port)
            let text = String(repeating: "x", count: 900_000)
            let body = #"{"text":"\#(text)"}"#
            try await connection.send(
                "POST /say HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.utf8.count)\r\n\r\n" + body)
            #expect(try await connection.readResponse().body == body)
            let size = String(body.utf8.count, radix: 16)
            try await connection.send(
                "POST /say HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\(size)\r\n\(body)\r\n0\r\n\r\n"
                    + "GET /things/7 HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await connection.readResponse().body == body)
            #expect(try await connection.readResponse().body == #"{"text":"thing 7"}"#)
            await connection.close()
        }
    }

    @Test func pipelinedRequestsAreAnsweredInTheirOrderThoughTheClientHasEnded() async throws {
        try await withServer { port in
            let connection = try await RawConnection(port: port)
            try await connection.send((1...50).map { "GET /things/\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
            try await connection.finish()
            for number in 1...50 {
                #expect(try await connection.readResponse().body == #"{"text":"thing \#(number)"}"#)
            }
            await connection.close()
        }
    }
}
