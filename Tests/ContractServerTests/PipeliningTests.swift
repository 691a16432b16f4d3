import HTTPTypes
import NIOCore
import NIOEmbedded
import Testing

@testable import ContractServer

/// Connections that send many requests at once have turns, between which their event loop looks for input: here on a virtual
/// clock.
@Suite(.timeLimit(.minutes(30))) struct PipeliningTests {
    /// A connection whose requests are answered.
    private final class Connection: RequestReceiver {
        let channel: EmbeddedChannel
        let reads = Reads()
        private let connection = ConnectionGuard { ByteBuffer(string: $1) }
        private let isLate: Bool
        private(set) var answers = 0

        /// - Parameter isLate: Whether a request is answered in another task of the event loop.
        init(on loop: EmbeddedEventLoop, isLate: Bool = false) throws {
            channel = EmbeddedChannel(handlers: [], loop: loop)
            self.isLate = isLate
            connection.requests = self
            try channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 1)).wait()
            try channel.pipeline.syncOperations.addHandlers([reads, connection])
        }

        func receive(requests count: Int) throws {
            let request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
            try channel.writeInbound(ByteBuffer(string: String(repeating: request, count: count)))
            channel.read()
        }

        func receive(_ head: RequestHead) {}
        func receive(_ head: RequestHead, refused refusal: ConnectionUpgrade.Refusal) {}
        func receive(_ bytes: ByteBuffer) {}
        func receiveEnd() {
            guard isLate else { return answer() }
            let this = NIOLoopBound(self, eventLoop: channel.eventLoop)
            channel.eventLoop.execute { this.value.answer() }
        }
        func completeReading() {}
        func fail(_ error: any Error) {}
        func resume() {}
        func end() {}

        private func answer() {
            answers += 1
            connection.write(.noContent, [:])
            connection.writeEnd()
            connection.flush()
        }
    }

    /// Counts the reads of a connection.
    private final class Reads: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer
        private(set) var count = 0

        func read(context: ChannelHandlerContext) { count += 1 }
    }

    private let loop = EmbeddedEventLoop()

    /// Goes on when the loop has looked for input.
    private func look() {
        loop.advanceTime(by: .microseconds(20))
        loop.run()
    }

    /// The loop looks for input after 256 requests, and all connections have had the same share of them.
    @Test func theLoopLooksForInputBetweenPipelinedRequests() throws {
        let connections = try (0..<8).map { _ in try Connection(on: loop) }
        for connection in connections {
            try connection.receive(requests: 1000)
            // The first one waits for no other.
            #expect(connection.answers == 1)
        }
        for share in 1...3 {
            if share == 1 { loop.run() } else { look() }
            #expect(connections.map(\.answers) == Array(repeating: 1 + 32 * share, count: 8))
        }
    }

    /// A connection that has sent one request is answered at once, however many others wait.
    @Test func aSingleRequestDoesNotWait() throws {
        let greedy = try Connection(on: loop)
        try greedy.receive(requests: 1000)
        loop.run()
        let polite = try Connection(on: loop)
        try polite.receive(requests: 1)
        #expect(polite.answers == 1)
        #expect(greedy.answers < 1000)
    }

    /// Requests that are answered in another task of the same tick bring no more of them than the others do.
    @Test func lateAnswersDoNotKeepTheLoopFromItsInput() throws {
        let connections = try (0..<4).map { _ in try Connection(on: loop, isLate: true) }
        for connection in connections { try connection.receive(requests: 1000) }
        loop.run()
        let answers = connections.map(\.answers)
        #expect(answers.reduce(0, +) <= 4 + 256)
        #expect((answers.max() ?? 0) - (answers.min() ?? 0) <= 1)
        for _ in 0..<100 { look() }
        #expect(connections.map(\.answers) == [1000, 1000, 1000, 1000])
    }

    /// Nothing is read while requests wait, and all that was not read is read then.
    @Test(arguments: [false, true]) func nothingIsReadWhileRequestsWait(isLate: Bool) throws {
        let connection = try Connection(on: loop, isLate: isLate)
        try connection.receive(requests: 600)
        for _ in 0..<100 where connection.answers < 600 {
            #expect(connection.reads.count == 0)
            look()
        }
        #expect(connection.answers == 600)
        #expect(connection.reads.count == 1)
        // The beginning of a request is none: the rest of it must be read.
        try connection.channel.writeInbound(ByteBuffer(string: "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / "))
        connection.channel.read()
        look()
        #expect(connection.answers == 601)
        #expect(connection.reads.count == 2)
    }

    /// A client that has sent all that it wanted to gets all answers.
    @Test func theEndOfTheInputWaitsForTheRequestsBeforeIt() throws {
        let connection = try Connection(on: loop)
        try connection.receive(requests: 600)
        connection.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        loop.run()
        #expect(connection.channel.isActive)
        for _ in 0..<10 { look() }
        #expect(connection.answers == 600)
        #expect(!connection.channel.isActive)
    }
}
