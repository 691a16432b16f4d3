import ContractServer
import Logging
import NIOCore
import NIOEmbedded
import NIOWebSocket
import Testbed
import Testing

@testable import WebSockets

/// Sockets end as RFC 6455 asks, over a real connection.
@Suite(.timeLimit(.minutes(30)))
struct SocketEndTests {
    @Test func aHalfClosedSocketIsClosed() async throws {
        let events = Events()
        try await TestServer.run([.echo(events: events)]) { server in
            let connection = try await RawConnection.upgraded(port: server.port)
            try await connection.finish()
            await events.wait(for: "closed")
            #expect(await connection.readToEnd().isEmpty)
            await connection.close()
        }
    }

    @Test func shutdownClosesSocketsWith1001() async throws {
        let events = Events()
        try await TestServer.run([.echo(events: events)]) { server in
            let idle = try await RawConnection(port: server.port)
            let connection = try await RawConnection.upgraded(port: server.port)
            await server.shutDown()
            let close = try await connection.readFrame()
            #expect(close.opcode == 8)
            #expect(close.closeCode == 1001)
            try await connection.send(frame(0x88, [0x03, 0xE9]))
            #expect(await connection.readToEnd().isEmpty)
            await events.wait(for: "closed")
            await connection.close()
            await idle.close()
        }
    }

    @Test func theServerClosesWithItsCodeAndWaitsForTheAnswer() async throws {
        let events = Events()
        try await TestServer.run([.echo(events: events)]) { server in
            let connection = try await RawConnection.upgraded(port: server.port)
            try await connection.send(frame(0x81, "close") + frame(0x81, "ignored"))
            let close = try await connection.readFrame()
            #expect(close.closeCode == 4001)
            #expect(String(decoding: close.payload.dropFirst(2), as: UTF8.self) == "Session ended")
            try await connection.send(frame(0x81, "ignored") + frame(0x88, [0x0F, 0xA1]))
            #expect(await connection.readToEnd().isEmpty)
            await events.wait(for: "closed")
            await connection.close()
        }
    }

    @Test func aReaderTooSlowIsClosedWith1013() async throws {
        let events = Events()
        var limits = SocketLimits.patient
        limits.maximumQueuedBytes = 100_000
        try await TestServer.run([.echo(limits: limits, events: events)]) { server in
            let connection = try await RawConnection.upgraded(port: server.port)
            try await connection.send(frame(0x81, "repeat 100000"))
            let close = try await connection.readFrame()
            #expect(close.closeCode == 1013)
            await connection.close()
            await events.wait(for: "closed")
        }
    }
}

/// Frames arrive whole and in order, whether a socket sends past its pipeline or through it.
@Suite(.timeLimit(.minutes(30)))
struct SocketOrderTests {
    @Test(arguments: [true, false])
    func burstsArriveWholeAndInOrder(sendsDirectly: Bool) async throws {
        // A batch of a hundred frames is more than the kernel takes at once.
        let count = 2000
        try await TestServer.run([.echo()], sendsDirectly: sendsDirectly) { server in
            let connection = try await RawConnection.upgraded(port: server.port)
            try await connection.send(frame(0x81, "count \(count)"))
            for number in 0..<count {
                guard try await connection.readFrame() == .text(Echo.text(number)) else {
                    Issue.record("frame \(number) is another")
                    break
                }
            }
            await connection.close()
        }
    }

    @Test(arguments: [true, false])
    func answersOfOneTickAreFramesOfTheirOwn(sendsDirectly: Bool) async throws {
        try await TestServer.run([.echo()], sendsDirectly: sendsDirectly) { server in
            let connection = try await RawConnection.upgraded(port: server.port)
            try await connection.send((1...6).flatMap { frame(0x81, "text \($0)") })
            for number in 1...6 { #expect(try await connection.readFrame() == .text("text \(number)")) }
            await connection.close()
        }
    }

    /// A connection counts until it is closed, also as a socket.
    @Test func aSocketCountsAsAConnection() async throws {
        let limits = ConnectionLimits(total: 2, perAddress: 2, logger: Logger(label: "test")) { _ in false }
        let events = Events()
        try await TestServer.run([.echo(events: events)], connections: limits) { server in
            var connections: [RawConnection] = []
            for _ in 0..<2 {
                connections.append(try await RawConnection.upgraded(port: server.port))
                await events.wait(for: "opened")
            }
            let another = try await RawConnection(port: server.port)
            try await another.send(RawConnection.handshake)
            #expect(try await another.readResponse().status == 503)
            await another.close()
            for connection in connections {
                await connection.close()
                await events.wait(for: "closed")
            }
            while limits.load.open > 0 { try await Task.sleep(for: .milliseconds(5)) }
        }
    }

    /// A socket that is not read is closed with 1013, and what came before is whole.
    @Test(arguments: [true, false])
    func aSlowReaderLosesNoFrameBeforeTheEnd(sendsDirectly: Bool) async throws {
        let events = Events()
        try await TestServer.run([.echo(events: events)], sendsDirectly: sendsDirectly) { server in
            let connection = try await RawConnection.upgraded(port: server.port)
            try await connection.channel.setOption(.autoRead, value: false).get()
            try await connection.send(frame(0x81, "flood"))
            await events.wait(for: "flooded")
            try await connection.channel.setOption(.autoRead, value: true).get()
            var number = 0
            while true {
                let next = try await connection.readFrame()
                if next.opcode == 8 {
                    #expect(next.closeCode == 1013)
                    break
                }
                guard next == .text(Echo.text(number)) else {
                    Issue.record("frame \(number) is another")
                    break
                }
                number += 1
            }
            #expect(0 < number && number < Echo.flood)
            await connection.close()
        }
    }
}

/// Sockets keep their deadlines, here on a virtual clock.
struct SocketTimeTests {
    final class Log: SocketHandler {
        var socket: (any SocketConnection)?
        var events: [String] = []

        func opened(_ socket: any SocketConnection) {
            self.socket = socket
            events.append("opened")
        }
        func received(_ text: ByteBuffer) { events.append(String(buffer: text)) }
        func receivedBinary(_ count: Int) { events.append("binary \(count)") }
        func closed() { events.append("closed") }
    }

    private let channel = EmbeddedChannel()
    private let log = Log()
    private let stall = Stall()

    init() throws {
        try channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 1)).wait()
        try channel.pipeline.syncOperations.addHandlers([
            stall, SocketChannelHandler(log, limits: SocketLimits(), channel: channel),
        ])
    }

    /// Ends the tick, and takes the next write.
    private func read() throws -> [UInt8]? {
        channel.embeddedEventLoop.run()
        return try channel.readOutbound(as: ByteBuffer.self).map { Array($0.readableBytesView) }
    }

    private func hear() {
        channel.pipeline.fireChannelReadComplete()
    }

    @Test func pingsAreSentWhileThePeerIsHeard() throws {
        #expect(log.events == ["opened"])
        for _ in 1...10 {
            channel.embeddedEventLoop.advanceTime(by: .seconds(24))
            #expect(try read() == nil)
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
            #expect(try read() == [0x89, 0x00])
            hear()
        }
        #expect(channel.isActive)
    }

    @Test func aSilentPeerIsDropped() throws {
        channel.embeddedEventLoop.advanceTime(by: .seconds(20))
        hear()
        channel.embeddedEventLoop.advanceTime(by: .seconds(59))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
        #expect(log.events == ["opened", "closed"])
        #expect(try [read(), read(), read(), read()] == [[0x89, 0], [0x89, 0], [0x89, 0], nil])
    }

    @Test func aPeerThatDoesNotAnswerTheCloseIsDropped() throws {
        log.socket?.close(.normal, reason: "")
        log.socket?.close(.goingAway, reason: "too late")
        log.socket?.send(TextFrame("dropped"))
        #expect(try read() == [0x88, 2, 0x03, 0xE8])
        #expect(try read() == nil)
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(4_999))
        hear()
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(!channel.isActive)
        #expect(log.events == ["opened", "closed"])
    }

    @Test func framesBeyondTheQueueCloseTheSocket() throws {
        stall.isStalled = true
        for _ in 1...256 { log.socket?.send(TextFrame("x")) }
        channel.embeddedEventLoop.run()
        stall.release(100)
        for _ in 1...100 { log.socket?.send(TextFrame("x")) }
        channel.embeddedEventLoop.run()
        #expect(stall.held.count == 256)
        log.socket?.send(TextFrame("one too many"))
        #expect(stall.held.count == 257)
        stall.release(257)
        for _ in 1...356 { #expect(try read() == [0x81, 1, 0x78]) }
        #expect(try read()?.prefix(4) == [0x88, 10, 0x03, 0xF5])
    }

    @Test func bytesBeyondTheQueueCloseTheSocket() throws {
        stall.isStalled = true
        let frame = TextFrame(String(repeating: "x", count: 104_000))
        for _ in 1...10 { log.socket?.send(frame) }
        channel.embeddedEventLoop.run()
        #expect(stall.held.count == 10)
        log.socket?.send(frame)
        stall.release(11)
        for _ in 1...10 { #expect(try read()?.count == 104_010) }
        #expect(try read()?.prefix(4) == [0x88, 10, 0x03, 0xF5])
    }

    /// Frames that the network takes are not queued, however many are sent in one tick.
    @Test func manyFramesOfOneTickAreSent() throws {
        for number in 0..<1000 { log.socket?.send(TextFrame("\(number)")) }
        for number in 0..<1000 { #expect(try read() == Array(TextFrame("\(number)").bytes.readableBytesView)) }
        #expect(try read() == nil)
        #expect(channel.isActive)
    }

    @Test func framesOfOneTickAreFlushedOnce() throws {
        for number in 1...3 { log.socket?.send(TextFrame("\(number)")) }
        #expect(stall.flushes == 0)
        channel.embeddedEventLoop.run()
        #expect(stall.flushes == 1)
        for number in 1...3 { #expect(try read() == Array(TextFrame("\(number)").bytes.readableBytesView)) }
    }

    /// A reply is not lost when its tick ends the connection, too.
    @Test func framesOfTheLastTickAreSent() throws {
        log.socket?.send(TextFrame("last"))
        channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(try read() == Array(TextFrame("last").bytes.readableBytesView))
        #expect(log.events == ["opened", "closed"])
    }

    @Test func whatWaitsForTheFramesBeforeRunsWhenTheyHaveLeft() throws {
        stall.isStalled = true
        log.socket?.send(TextFrame("x"))
        log.socket?.whenFlushed { [log] in log.events.append("flushed") }
        channel.embeddedEventLoop.run()
        #expect(log.events == ["opened"])
        stall.release(1)
        #expect(log.events == ["opened", "flushed"])
        log.socket?.whenFlushed { [log] in log.events.append("flushed") }
        #expect(log.events == ["opened", "flushed", "flushed"])
    }

    /// Pongs count towards the queue's limit: a peer that pings and does not read must not fill the memory.
    @Test func pongsBeyondTheQueueCloseTheSocket() throws {
        stall.isStalled = true
        let ping = WebSocketFrame(fin: true, opcode: .ping, maskKey: [1, 2, 3, 4], data: ByteBuffer())
        for _ in 1...300 { try channel.writeInbound(ping) }
        channel.embeddedEventLoop.run()
        #expect(stall.held.count == 257)
    }

    @Test func theOwnerIsNotifiedOfTheEndOnceAndReleased() throws {
        weak let socket = log.socket
        #expect(socket != nil)
        try channel.close().wait()
        channel.embeddedEventLoop.run()
        log.socket = nil
        #expect(log.events == ["opened", "closed"])
        #expect(socket == nil)
    }
}

/// A handler that holds writes back, as a kernel with full buffers does.
private final class Stall: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    var isStalled = false
    private(set) var flushes = 0
    private(set) var held: [(NIOAny, EventLoopPromise<Void>?)] = []
    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if isStalled {
            held.append((data, promise))
        } else {
            context.write(data, promise: promise)
        }
    }

    func flush(context: ChannelHandlerContext) {
        flushes += 1
        context.flush()
    }

    func release(_ count: Int) {
        for (data, promise) in held.prefix(count) { context?.writeAndFlush(data, promise: promise) }
        held.removeFirst(min(count, held.count))
    }
}
