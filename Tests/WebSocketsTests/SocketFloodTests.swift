import NIOCore
import NIOEmbedded
import NIOWebSocket
import Testbed
import Testing

@testable import WebSockets

/// A peer that sends many frames delays no other, and is closed when it goes on: here on a virtual clock.
@Suite(.timeLimit(.minutes(30)))
struct SocketFloodTests {
    /// A socket, and the reads that it lets pass.
    private final class Peer: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer

        let channel: EmbeddedChannel
        let log = SocketTimeTests.Log()
        private(set) var reads = 0

        init(on loop: EmbeddedEventLoop, _ limits: SocketLimits = SocketLimits()) throws {
            channel = EmbeddedChannel(handlers: [], loop: loop)
            try channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 1)).wait()
            let socket = SocketChannelHandler(log, limits: limits, channel: channel)
            try channel.pipeline.syncOperations.addHandlers([self, HalfClosed(), socket])
            reads = 0
        }

        func read(context: ChannelHandlerContext) { reads += 1 }

        /// Sends frames, which are received in one read.
        func send(_ frames: [WebSocketFrame]) {
            for frame in frames { channel.pipeline.fireChannelRead(frame) }
            channel.pipeline.fireChannelReadComplete()
            // A channel reads on by itself.
            channel.read()
        }

        /// Returns the code and the reason with which the socket was closed; nil if it is open.
        func closing() throws -> (code: UInt16, reason: String)? {
            channel.embeddedEventLoop.run()
            while var frame = try channel.readOutbound(as: ByteBuffer.self) {
                guard frame.readInteger(as: UInt8.self) == 0x88, frame.readInteger(as: UInt8.self) != nil else {
                    continue
                }
                return (frame.readInteger() ?? 0, String(buffer: frame))
            }
            return nil
        }
    }

    /// `EmbeddedChannel` does not support a half-closed output.
    private final class HalfClosed: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer

        func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
            mode == .output ? promise?.succeed() : context.close(mode: mode, promise: promise)
        }
    }

    /// A frame that a client may send again and again.
    enum Kind: CaseIterable {
        case text, binary, ping, pong, fragment

        var frame: WebSocketFrame {
            let data = ByteBuffer(string: "x")
            return switch self {
            case .text: WebSocketFrame(fin: true, opcode: .text, maskKey: [0, 0, 0, 0], data: data)
            case .binary: WebSocketFrame(fin: true, opcode: .binary, maskKey: [0, 0, 0, 0], data: data)
            case .ping: WebSocketFrame(fin: true, opcode: .ping, maskKey: [0, 0, 0, 0], data: data)
            case .pong: WebSocketFrame(fin: true, opcode: .pong, maskKey: [0, 0, 0, 0], data: data)
            case .fragment: WebSocketFrame(fin: false, opcode: .continuation, maskKey: [0, 0, 0, 0], data: data)
            }
        }

        /// The frame that comes before the others.
        var first: WebSocketFrame {
            guard self == .fragment else { return frame }
            return WebSocketFrame(fin: false, opcode: .text, maskKey: [0, 0, 0, 0], data: ByteBuffer(string: "x"))
        }
    }

    private let loop = EmbeddedEventLoop()

    // MARK: The budget

    @Test func aBudgetGrowsWithTimeUpToTheBurst() {
        var limits = SocketLimits()
        (limits.frameRate, limits.frameBurst) = (10, 5)
        var budget = FrameBudget(limits)
        var now = NIODeadline.uptimeNanoseconds(1_000_000_000)
        func taken() -> Int {
            var count = 0
            while budget.take(at: now) { count += 1 }
            return count
        }
        #expect(taken() == 5)
        // What was refused is missing as well.
        for (time, expected) in [(TimeAmount.milliseconds(200), 1), (.milliseconds(150), 0), (.hours(1), 5)] {
            now = now + time
            #expect(taken() == expected)
        }
    }

    @Test(arguments: Kind.allCases) func aPeerThatGoesOnSendingFramesIsClosed(kind: Kind) throws {
        var limits = SocketLimits()
        (limits.frameRate, limits.frameBurst) = (10, 50)
        (limits.pingInterval, limits.idleTimeout) = (nil, nil)
        let peer = try Peer(on: loop, limits)
        peer.send([kind.first])
        for _ in 1..<50 { peer.send([kind.frame]) }
        #expect(try peer.closing() == nil)
        // A tenth of a second for each.
        for _ in 0..<20 {
            loop.advanceTime(by: .milliseconds(100))
            peer.send([kind.frame])
        }
        #expect(try peer.closing() == nil)
        peer.send([kind.frame])
        let closing = try #require(try peer.closing())
        #expect(closing.code == 1008)
        #expect(closing.reason == "Too many frames")
        #expect(peer.log.events.count == 1 + (kind == .text || kind == .binary ? 70 : 0))
    }

    /// A client that is back signs in, and subscribes to every chat that it may.
    @Test func aThousandSubscriptionsAtOnceAreNoFlood() throws {
        let peer = try Peer(on: loop)
        for _ in 0..<10 { peer.send(Array(repeating: Kind.text.frame, count: 101)) }
        #expect(try peer.closing() == nil)
        #expect(peer.log.events.count == 1 + 1010)
    }

    // MARK: Turns

    /// A socket with few frames in a read reads on at once.
    @Test func aSocketWithFewFramesReadsOnAtOnce() throws {
        let peer = try Peer(on: loop)
        for number in 1...5 {
            peer.send(Array(repeating: Kind.text.frame, count: 8))
            #expect(peer.reads == number)
        }
    }

    /// The frames of a read are what its socket has done with its turn.
    @Test func aSocketWithManyFramesWaitsForItsTurnToRead() throws {
        let peers = try (0..<8).map { _ in try Peer(on: loop) }
        for peer in peers {
            peer.send(Array(repeating: Kind.text.frame, count: 150))
            #expect(peer.reads == 0)
        }
        // So many turns have as many frames as there may be between two looks for input.
        for expected in [2, 4, 6, 8] {
            loop.run()
            #expect(peers.map(\.reads).reduce(0, +) == expected)
            loop.advanceTime(by: .microseconds(20))
        }
        #expect(peers.map(\.reads) == Array(repeating: 1, count: 8))
    }
}

/// A flood ends over a real connection, too.
@Suite(.timeLimit(.minutes(30)))
struct SocketFloodServerTests {
    @Test(arguments: [0x81, 0x89, 0x8A]) func aFloodIsClosedWith1008(firstByte: UInt8) async throws {
        var limits = SocketLimits.patient
        (limits.frameRate, limits.frameBurst) = (1, 100)
        try await TestServer.run([.echo(limits: limits)]) { server in
            let connection = try await RawConnection.upgraded(port: server.port)
            let flood = Array(repeating: frame(firstByte, "x"), count: 5000).flatMap(\.self)
            try? await connection.send(flood)
            while case let next = try await connection.readFrame(), next.opcode == 8 || next.payload == [0x78] {
                guard next.opcode == 8 else { continue }
                #expect(next.closeCode == 1008)
                #expect(String(decoding: next.payload.dropFirst(2), as: UTF8.self) == "Too many frames")
                break
            }
            await connection.close()
        }
    }
}
