import ContractClient
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSockets
import NIOWebSocket
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

    /// The bytes that a server sends in one packet with its answer, as some do.
    enum FirstBytes: CaseIterable {
        case text, ping, close, spaces, manyTexts, textAndEnd

        var bytes: [UInt8] {
            switch self {
            case .text, .textAndEnd: [0x81, 2] + "Hi".utf8
            case .ping: [0x89, 1] + "p".utf8
            case .close: [0x88, 2, 0x0F, 0xA1]
            case .spaces: Array(repeating: 0x20, count: 256 << 10)
            case .manyTexts: (0..<500).flatMap { [0x81, 3] + String($0 + 100).utf8 }
            }
        }
    }

    /// The frames arrive, and are answered, however early they are.
    @Test(arguments: FirstBytes.allCases)
    func framesRightBehindTheAnswerAreReadAndAnswered(_ first: FirstBytes) async throws {
        let (received, sent) = AsyncStream.makeStream(of: ByteBuffer.self)
        let server = try await EagerServer.start(
            sending: first.bytes, ends: first == .textAndEnd, receiving: sent)
        let url = try #require(URL(string: "ws://127.0.0.1:\(server.localAddress?.port ?? 0)/ws"))
        let socket = try await transport.open(url, headers: [:], maximumMessageSize: 65_536)
        switch first {
        case .text:
            #expect(try await socket.receive() == .text("Hi"))
        case .textAndEnd:
            // NIO's response decoder drops what arrives together with the connection's end. The end is noticed.
            let closed = await #expect(throws: SocketClosed.self) { while true { _ = try await socket.receive() } }
            #expect(closed?.code == 1006)
        case .manyTexts:
            for index in 0..<500 { #expect(try await socket.receive() == .text("\(index + 100)")) }
        case .ping:
            // The pong has the ping's content, masked.
            var answer = try #require(await received.first { _ in true })
            #expect(answer.readBytes(length: 2) == [0x8A, 0x81])
        case .close:
            await #expect(throws: SocketClosed(code: 4001)) { try await socket.receive() }
            var answer = try #require(await received.first { _ in true })
            #expect(answer.readBytes(length: 2) == [0x88, 0x82])
        case .spaces:
            await #expect(throws: SocketClosed(code: 1002, reason: "Invalid frame")) { try await socket.receive() }
            var answer = try #require(await received.first { _ in true })
            #expect(answer.readBytes(length: 2) == [0x88, 0x8F])
        }
        try await server.close()
    }
}

/// A server that sends bytes in one write with its acceptance of an upgrade.
private enum EagerServer {
    static func start(
        sending first: [UInt8], ends: Bool, receiving received: AsyncStream<ByteBuffer>.Continuation
    ) async throws -> any Channel {
        try await ServerBootstrap(group: MultiThreadedEventLoopGroup.ofTests)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(Appending(first, ends: ends))
                    let upgrader = NIOWebSocketServerUpgrader(
                        shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture([:]) },
                        upgradePipelineHandler: { channel, _ in
                            channel.eventLoop.makeCompletedFuture {
                                // NIO's own handlers would answer as well.
                                for handler in [
                                    try pipeline.context(handlerType: WebSocketFrameEncoder.self),
                                    try pipeline.context(
                                        handlerType: ByteToMessageHandler<WebSocketFrameDecoder>.self),
                                ] {
                                    pipeline.removeHandler(context: handler, promise: nil)
                                }
                                try pipeline.addHandler(Collecting(received))
                            }
                        })
                    try pipeline.configureHTTPServerPipeline(
                        withServerUpgrade: (upgraders: [upgrader], completionHandler: { _ in }))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    private final class Appending: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private var first: [UInt8]?
        private let ends: Bool

        /// - Parameter ends: Whether the connection ends behind the bytes.
        init(_ first: [UInt8], ends: Bool) {
            self.first = first
            self.ends = ends
        }

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            var bytes = unwrapOutboundIn(data)
            if let first { bytes.writeBytes(first) }
            first = nil
            context.write(wrapOutboundOut(bytes), promise: promise)
            if ends {
                context.flush()
                context.close(promise: nil)
            }
        }
    }

    private final class Collecting: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let received: AsyncStream<ByteBuffer>.Continuation

        init(_ received: AsyncStream<ByteBuffer>.Continuation) {
            self.received = received
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            received.yield(unwrapInboundIn(data))
        }
    }
}
