import ContractClient
import Foundation
import HTTPTypes
import NIOCore
import NIOSockets
import Testing
import WebSockets

/// The client transport works with this package's own server.
@Suite(.timeLimit(.minutes(30)))
struct NIOSocketTransportTests {
    private let transport = NIOSocketTransport(openingTime: .minutes(5))

    private func open(
        _ server: TestServer, _ path: String = "/ws", headers: HTTPFields = [:], maximumMessageSize: Int = 65_536
    ) async throws -> any Socket {
        let url = try #require(URL(string: "ws://127.0.0.1:\(server.port)\(path)"))
        return try await transport.open(url, headers: headers, maximumMessageSize: maximumMessageSize)
    }

    @Test func textsTravelInBothDirections() async throws {
        try await TestServer.run([.echo()]) { server in
            let socket = try await open(server)
            for text in ["", "Hello", "é€😀", String(repeating: "x", count: 60_000)] {
                try await socket.send(text)
                #expect(try await socket.receive() == .text(text))
            }
            try await socket.ping()
            await socket.close(code: 1000, reason: "done")
            await #expect(throws: SocketClosed(code: 1000)) { try await socket.receive() }
            await #expect(throws: SocketClosed(code: 1000)) { try await socket.send("late") }
            await #expect(throws: SocketClosed(code: 1000)) { try await socket.ping() }
            await socket.close(code: 1000, reason: "again")
        }
    }

    @Test func messagesAreKeptInOrderUntilTheyAreAskedFor() async throws {
        try await TestServer.run([.echo()]) { server in
            let socket = try await open(server)
            // This is more than the inbox holds, and more than the kernel buffers.
            for index in 0..<200 { try await socket.send("\(index)") }
            for index in 0..<200 { #expect(try await socket.receive() == .text("\(index)")) }
            try await socket.send("close")
            await #expect(throws: SocketClosed(code: 4001, reason: "Session ended")) { try await socket.receive() }
        }
    }

    @Test func aMessageTooBigForTheServerIsSent() async throws {
        try await TestServer.run([.echo()]) { server in
            let socket = try await open(server)
            try await socket.send(String(repeating: "x", count: 65_537))
            await #expect(throws: SocketClosed(code: 1009, reason: "Message too big")) { try await socket.receive() }
        }
    }

    @Test func aMessageTooBigForUsClosesWith1009() async throws {
        let events = Events()
        try await TestServer.run([.echo(events: events)]) { server in
            let socket = try await open(server, maximumMessageSize: 1_000)
            try await socket.send("repeat 1000")
            #expect(try await socket.receive() == .text(String(repeating: "x", count: 1_000)))
            try await socket.send("repeat 1001")
            await #expect(throws: SocketClosed(code: 1009, reason: "Message too big")) { try await socket.receive() }
            await events.wait(for: "closed")
        }
    }

    @Test func aRefusalCarriesItsStatusAndBody() async throws {
        let route = SocketRoute.echo { request in
            request.headerFields[.authorization] == "Bearer x"
                ? nil : .refuse(status: .unauthorized, headers: [:], body: ByteBuffer(string: "Who are you?"))
        }
        try await TestServer.run([route]) { server in
            let refused = await #expect(throws: SocketRefused.self) { try await open(server) }
            #expect(refused?.status == 401)
            #expect(refused.map { String(decoding: $0.body, as: UTF8.self) } == "Who are you?")

            let answered = await #expect(throws: SocketRefused.self) { try await open(server, "/other?a=b%20c") }
            #expect(answered?.status == 200)
            #expect(
                answered.map { String(decoding: $0.body, as: UTF8.self) } == "GET /other upgrade=none body=")

            let socket = try await open(server, headers: [.authorization: "Bearer x"])
            try await socket.send("Hello")
            #expect(try await socket.receive() == .text("Hello"))
            await socket.close(code: 3000, reason: "")
            await #expect(throws: SocketClosed(code: 3000)) { try await socket.receive() }
        }
    }

    @Test func aStoppingServerClosesItsSockets() async throws {
        let events = Events()
        try await TestServer.run([.echo(events: events)]) { server in
            let socket = try await open(server)
            await events.wait(for: "opened")
            await server.shutDown()
            await #expect(throws: SocketClosed(code: 1001, reason: "Shutting down")) { try await socket.receive() }
            await events.wait(for: "closed")
        }
    }

    @Test func waitingCanBeCancelledWithoutLosingAMessage() async throws {
        try await TestServer.run([.echo()]) { server in
            let socket = try await open(server)
            let receiver = Task { try await socket.receive() }
            try await socket.ping()
            receiver.cancel()
            await #expect(throws: CancellationError.self) { try await receiver.value }
            try await socket.send("Hello")
            try await socket.ping()
            let late = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await socket.receive()
            }
            await #expect(throws: CancellationError.self) { try await late.value }
            #expect(try await socket.receive() == .text("Hello"))
            await socket.close(code: 1000, reason: "")
        }
    }

    @Test func openingCanBeCancelled() async throws {
        let events = Events()
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let route = SocketRoute.echo { _ in
            events.add("asked")
            for await _ in gate { break }
            return nil
        }
        try await TestServer.run([route]) { server in
            let opener = Task { try await self.open(server) }
            await events.wait(for: "asked")
            opener.cancel()
            await #expect(throws: CancellationError.self) { try await opener.value }
            open.yield()
        }
    }

    @Test(arguments: ["ftp://localhost/ws", "ws:///ws", "localhost"])
    func otherURLsAreRefused(_ text: String) async throws {
        let url = try #require(URL(string: text))
        await #expect(throws: InvalidSocketURL.self) {
            try await transport.open(url, headers: [:], maximumMessageSize: 1)
        }
    }

    @Test func aPortWithoutAServerFails() async throws {
        let url = try #require(URL(string: "ws://127.0.0.1:1/ws"))
        await #expect(throws: (any Error).self) {
            try await transport.open(url, headers: [:], maximumMessageSize: 1)
        }
    }
}
