import NIOCore
import NIOEmbedded
import Testing

@testable import WebSockets

/// A loop with many sockets does its other work between them, here on a virtual clock.
@Suite(.timeLimit(.minutes(30)))
struct FlushQueueTests {
    /// Sockets on one loop.
    private struct Sockets {
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

        /// Sends when it is the sockets' turn.
        ///
        /// - Parameter before: Called before some sockets get their frames, with the number of those that have theirs.
        func sendInTurns(_ before: @escaping (Int) -> Void = { _ in }) {
            var next = 0
            SocketWrites.inTurns(on: loop) { limit in
                before(next)
                let turn = logs[next...].prefix(limit)
                for log in turn { log.socket?.send(TextFrame("y")) }
                next += turn.count
                return turn.count
            }
        }

        /// Returns the frames that a socket has sent.
        func frames(_ index: Int) throws -> [String] {
            var frames: [String] = []
            while let bytes = try channels[index].readOutbound(as: ByteBuffer.self) {
                frames.append(String(buffer: TextFrame(bytes: bytes).payload))
            }
            return frames
        }

        /// Returns the number of sockets that have sent a frame since it was last asked.
        func count() throws -> Int { try channels.count { try $0.readOutbound(as: ByteBuffer.self) != nil } }
    }

    /// A loop with many sockets does what else there is to do between them.
    @Test func manySocketsSendInSlices() throws {
        let sockets = try Sockets(200)
        sockets.send()
        nonisolated(unsafe) var (other, all): (Int?, Int?) = (nil, nil)
        SocketWrites.whenDone(on: sockets.loop) { all = try? sockets.count() }
        sockets.loop.execute { other = try? sockets.count() }
        sockets.loop.run()
        #expect(other.map { 0 < $0 && $0 < 200 } == true)
        #expect(all.map { $0 + (other ?? 0) } == 200)
    }

    /// A loop that sends to very many sockets looks for input in between. What it sends to fewer is not cut in two.
    @Test func aLoopWithVeryManySocketsLooksForInput() throws {
        let sockets = try Sockets(700)
        sockets.send()
        for expected in [256, 256, 188] {
            sockets.loop.run()
            #expect(try sockets.count() == expected)
            sockets.loop.advanceTime(by: .microseconds(20))
        }
        let few = try Sockets(200)
        for _ in 0..<3 {
            few.send()
            few.loop.run()
            // Where it has sent to many before, it looks for input first.
            few.loop.advanceTime(by: .microseconds(20))
            #expect(try few.count() == 200)
        }
    }

    /// A delivery to very many sockets ends before all have sent, so that later frames join those of the others.
    @Test func aDeliveryEndsWhenTheLoopLooksForInput() throws {
        let sockets = try Sockets(600)
        sockets.send()
        var sent: Int?
        SocketWrites.whenDone(on: sockets.loop) { sent = try? sockets.count() }
        sockets.loop.run()
        #expect(sent == 256)
    }

    /// Sockets that are given frames when it is their turn send them before the next ones are given theirs.
    @Test func aBatchSendsInItsTurn() throws {
        let sockets = try Sockets(700)
        nonisolated(unsafe) var (sent, other) = (0, 0)
        sockets.sendInTurns { served in
            sent += (try? sockets.count()) ?? 0
            #expect(sent == served)
        }
        sockets.loop.execute { other = sent }
        sockets.loop.run()
        #expect(0 < other && other < 256)
        for expected in [256, 512, 700] {
            sent += try sockets.count()
            #expect(sent == expected)
            sockets.loop.advanceTime(by: .microseconds(20))
            sockets.loop.run()
        }
    }

    /// Frames leave in the order in which a socket was given them, also where it waits with others and for itself.
    @Test func aSocketOfABatchKeepsTheOrderOfItsFrames() throws {
        let sockets = try Sockets(3)
        sockets.send()
        sockets.sendInTurns()
        sockets.sendInTurns()
        sockets.loop.run()
        sockets.sendInTurns()
        sockets.send()
        sockets.loop.run()
        for index in 0..<3 { #expect(try sockets.frames(index) == ["x", "y", "y", "x", "y"]) }
    }
}
