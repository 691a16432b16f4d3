import HTTPTypes
import NIOCore
import Testbed
import Testing
import WebSockets

/// A connection's first request can be an upgrade, over a real connection.
@Suite(.timeLimit(.minutes(30)))
struct SocketUpgradeTests {
    @Test func theHandshakeIsAnsweredAsTheRFCComputesIt() async throws {
        let events = Events()
        try await TestServer.run([.echo(events: events)]) { server in
            let connection = try await RawConnection(port: server.port)
            try await connection.send(RawConnection.handshake("/ws?token=1"))
            let response = try await connection.readResponse()
            #expect(response.status == 101)
            #expect(response.fields["sec-websocket-accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
            #expect(response.fields["upgrade"] == "websocket")
            #expect(response.fields["content-length"] == nil)
            await events.wait(for: "admitted /ws?token=1 from 127.0.0.1")
            await events.wait(for: "opened")
            try await connection.send(frame(0x81, "Hello"))
            #expect(try await connection.readFrame() == .text("Hello"))
            await connection.close()
            await events.wait(for: "closed")
        }
    }

    @Test func framesBehindTheHandshakeAreNotLost() async throws {
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let asked = Events()
        let route = SocketRoute.echo { _ in
            asked.add("asked")
            for await _ in gate { break }
            return nil
        }
        try await TestServer.run([route]) { server in
            let connection = try await RawConnection(port: server.port)
            try await connection.send(Array(RawConnection.handshake.utf8) + frame(0x81, "one"))
            await asked.wait(for: "asked")
            try await connection.send(frame(0x81, "two"))
            open.yield()
            #expect(try await connection.readResponse().status == 101)
            #expect(try await connection.readFrame() == .text("one"))
            #expect(try await connection.readFrame() == .text("two"))
            await connection.close()
        }
    }

    @Test func aHandshakeByteByByteIsUnderstood() async throws {
        try await TestServer.run([.echo()]) { server in
            let connection = try await RawConnection(port: server.port)
            try await connection.send(oneByOne: RawConnection.handshake.utf8)
            #expect(try await connection.readResponse().status == 101)
            try await connection.send(oneByOne: frame(0x81, "Hello"))
            #expect(try await connection.readFrame() == .text("Hello"))
            await connection.close()
        }
    }

    @Test(arguments: ["h2c", "foo", "foo, bar"])
    func aForeignUpgradeIsAnsweredByTheResponder(_ name: String) async throws {
        try await TestServer.run([.echo()]) { server in
            let connection = try await RawConnection(port: server.port)
            try await connection.send(
                "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: \(name)\r\n"
                    + "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n")
            #expect(try await connection.readResponse().body == "GET /ws upgrade=none body=")
            try await connection.send("GET /next HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await connection.readResponse().body == "GET /next upgrade=none body=")
            await connection.close()
        }
    }

    /// The bytes arrive in one segment, or one by one.
    @Test(
        arguments: [true, false],
        ["Content-Length: 5\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"])
    func aForeignUpgradeKeepsItsBodyAndTheNextRequest(atOnce: Bool, rest: String) async throws {
        try await TestServer.run([.echo()]) { server in
            let connection = try await RawConnection(port: server.port)
            let requests =
                "\r\nPOST /a HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: foo\r\n\(rest)"
                + "GET /b HTTP/1.1\r\nHost: a\r\n\r\n"
            if atOnce {
                try await connection.send(requests)
            } else {
                for byte in requests.utf8 { try await connection.send([byte]) }
            }
            #expect(try await connection.readResponse().body == "POST /a upgrade=none body=hello")
            #expect(try await connection.readResponse().body == "GET /b upgrade=none body=")
            await connection.close()
        }
    }

    @Test(arguments: [
        RawConnection.handshake("/other"),
        RawConnection.handshake("/ws/"),
        RawConnection.handshake("/ws", extra: "Content-Length: 2\r\n") + "hi",
        RawConnection.handshake.replacing("GET", with: "DELETE"),
        RawConnection.handshake.replacing("Connection: Upgrade\r\n", with: ""),
    ])
    func otherRequestsAreAnsweredByTheResponder(_ request: String) async throws {
        try await TestServer.run([.echo()]) { server in
            let connection = try await RawConnection(port: server.port)
            try await connection.send(request)
            #expect(try await connection.readResponse().status == 200)
            try await connection.send("GET /next HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await connection.readResponse().body == "GET /next upgrade=none body=")
            await connection.close()
        }
    }

    @Test func aRefusalIsAnsweredAndTheConnectionGoesOn() async throws {
        let route = SocketRoute.echo { request in
            guard request.path == "/ws?no" else { return nil }
            return .refuse(
                status: .forbidden, headers: [.contentType: "application/json"], body: ByteBuffer(string: #"{"a":1}"#))
        }
        try await TestServer.run([route]) { server in
            let connection = try await RawConnection(port: server.port)
            try await connection.send(RawConnection.handshake("/ws?no") + RawConnection.handshake("/ws?no"))
            for _ in 1...2 {
                let response = try await connection.readResponse()
                #expect(response.status == 403)
                #expect(response.body == #"{"a":1}"#)
                #expect(response.fields["content-type"] == "application/json")
            }
            try await connection.send(RawConnection.handshake("/ws?yes"))
            #expect(try await connection.readResponse().status == 101)
            try await connection.send(frame(0x81, "Hello"))
            #expect(try await connection.readFrame() == .text("Hello"))
            await connection.close()

            let other = try await RawConnection(port: server.port)
            try await other.send(RawConnection.handshake("/ws?no") + "GET /next HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await other.readResponse().status == 403)
            #expect(try await other.readResponse().body == "GET /next upgrade=none body=")
            await other.close()
        }
    }

    @Test(arguments: [
        ("Sec-WebSocket-Version: 13", "Sec-WebSocket-Version: 8", 426),
        ("Sec-WebSocket-Version: 13\r\n", "", 426),
        ("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n", "", 400),
        ("dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25jZQ", 400),
        ("dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25j!!==", 400),
        ("Sec-WebSocket-Key:", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Key:", 400),
    ])
    func anInvalidHandshakeIsRefused(_ part: String, _ other: String, status: Int) async throws {
        try await TestServer.run([.echo()]) { server in
            let connection = try await RawConnection(port: server.port)
            try await connection.send(RawConnection.handshake.replacing(part, with: other))
            let response = try await connection.readResponse()
            #expect(response.status == status)
            #expect(response.fields["sec-websocket-version"] == (status == 426 ? "13" : nil))
            try await connection.send(RawConnection.handshake)
            #expect(try await connection.readResponse().status == 101)
            await connection.close()
        }
    }

    @Test func aConnectionMayBecomeASocketAfterOtherRequests() async throws {
        try await TestServer.run([.echo()]) { server in
            let connection = try await RawConnection(port: server.port)
            try await connection.send("GET /first HTTP/1.1\r\nHost: a\r\n\r\n" + RawConnection.handshake)
            #expect(try await connection.readResponse().body == "GET /first upgrade=none body=")
            #expect(try await connection.readResponse().status == 101)
            try await connection.send(frame(0x81, "Hello"))
            #expect(try await connection.readFrame() == .text("Hello"))
            await connection.close()
        }
    }

    @Test func theConnectionMayEndDuringAdmission() async throws {
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let events = Events()
        let route = SocketRoute.echo(events: events) { _ in
            events.add("asked")
            for await _ in gate { break }
            return nil
        }
        try await TestServer.run([route]) { server in
            let connection = try await RawConnection(port: server.port)
            try await connection.send(RawConnection.handshake)
            await events.wait(for: "asked")
            try await connection.finish()
            open.yield()
            await events.wait(for: "opened")
            await events.wait(for: "closed")
            _ = await connection.readToEnd()
            await connection.close()
        }
    }
}
