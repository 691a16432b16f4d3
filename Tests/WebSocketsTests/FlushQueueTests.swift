import NIOCore
import NIOEmbedded
import Testing

@testable import WebSockets

/// A loop with many sockets does its other work between them, here on a virtual clock.
@Suite(.timeLimit(.minutes(30)))
struct FlushQueueTests {
    /// Sockets on one loop.
    private struct Crowd {
        let loop = EmbeddedEventLoop()
        private var channels: [EmbeddedChannel] = []
        private var logs: [SocketTimeTests.Log] = []

        init(_ count: Int) throws {
            for _ in 0..<count {
                let (channel, log) = (EmbeddedChannel(handlers: [], loop: loop), SocketTimeTests.Log())
                try channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 1)).wait()
                try channel.pipeline.syncOperations.addHandler(
                    SocketChannelHandler(log, limits: SocketLimits(), channel: channel))
                channels.append(channel)
                logs.append(log)
            }
            loop.run()
        }

        func send() { for log in logs { log.socket?.send(TextFrame("x")) } }

        /// Returns the number of sockets that have sent a frame since it was last asked.
        func count() throws -> Int { try channels.count { try $0.readOutbound(as: ByteBuffer.self) != nil } }
    }

    /// A loop with many sockets does what else there is to do between them.
    @Test func manySocketsSendInSlices() throws {
        let crowd = try Crowd(200)
        crowd.send()
        nonisolated(unsafe) var (other, all): (Int?, Int?) = (nil, nil)
        SocketWrites.whenDone(on: crowd.loop) { all = try? crowd.count() }
        crowd.loop.execute { other = try? crowd.count() }
        crowd.loop.run()
        #expect(other.map { 0 < $0 && $0 < 200 } == true)
        #expect(all.map { $0 + (other ?? 0) } == 200)
    }

    /// NIO looks for input when no task is due. A loop that sends to very many sockets lets it do so in between, and a loop
    /// that sends to fewer sockets each time does not wait for it.
    @Test func aLoopWithVeryManySocketsLooksForInput() throws {
        let crowd = try Crowd(1500)
        crowd.send()
        for expected in [512, 512, 476] {
            crowd.loop.run()
            #expect(try crowd.count() == expected)
            crowd.loop.advanceTime(by: .microseconds(20))
        }
        let few = try Crowd(400)
        for _ in 0..<3 {
            few.send()
            few.loop.run()
            #expect(try few.count() == 400)
        }
    }
}
