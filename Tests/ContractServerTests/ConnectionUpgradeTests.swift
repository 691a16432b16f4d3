import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import Testing

@testable import ContractServer

/// The decision on a connection that offers another protocol works on a virtual clock.
@Suite(.timeLimit(.minutes(30))) struct ConnectionUpgradeTests {
    private static let offer = "GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"
    private typealias Decide = @Sendable (sending ConnectionUpgrade.Decision) -> Void

    /// Answers refused offers with their status.
    private final class Answers: RequestReceiver {
        unowned let connection: ConnectionGuard
        private(set) var refusals = 0

        init(_ connection: ConnectionGuard) { self.connection = connection }

        func receive(_ head: RequestHead) {}
        func receive(_ head: RequestHead, refused refusal: ConnectionUpgrade.Refusal) {
            refusals += 1
            connection.write(refusal.status, [.contentLength: "0"])
            connection.writeEnd()
            connection.flush()
        }
        func receive(_ bytes: ByteBuffer) {}
        func receiveEnd() {}
        func completeReading() {}
        func fail(_ error: any Error) {}
        func resume() {}
        func end() {}
    }

    /// Keeps what is written until ``pass()`` is called.
    private final class Stall: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer
        private var promises: [EventLoopPromise<Void>?] = []

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            promises.append(promise)
        }

        func handlerRemoved(context: ChannelHandlerContext) {
            for promise in promises { promise?.fail(ChannelError.ioOnClosedChannel) }
        }

        /// Notes that the client has taken what was written.
        func pass() {
            let passed = promises
            promises = []
            for promise in passed { promise?.succeed() }
        }
    }

    private let channel = EmbeddedChannel()
    private let connection: ConnectionGuard
    private let answers: Answers
    private let decisions: NIOLockedValueBox<[Decide]>

    init() throws {
        let decisions = NIOLockedValueBox<[Decide]>([])
        let upgrade = ConnectionUpgrade { _, _, decide in
            decisions.withLockedValue { $0.append(decide) }
            return {}
        }
        connection = ConnectionGuard(upgrade: upgrade) { ByteBuffer(string: "Malformed: \($1)") }
        answers = Answers(connection)
        connection.requests = answers
        self.decisions = decisions
        try channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 1)).wait()
    }

    /// Refuses the last offer.
    private func refuse() throws {
        let decide = try #require(decisions.withLockedValue { $0.last })
        decide(.refuse(.init(.forbidden, [:], ByteBuffer())))
        channel.embeddedEventLoop.run()
    }

    private func sent() throws -> String {
        var text = ""
        while let buffer = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: buffer) }
        return text
    }

    @Test func theServerMayTakeItsTimeToDecideOnAnOffer() throws {
        try channel.pipeline.syncOperations.addHandler(connection)
        try channel.writeInbound(ByteBuffer(string: Self.offer))
        channel.embeddedEventLoop.advanceTime(by: .minutes(5))
        #expect(channel.isActive)
        // The time for the next request begins with the answer.
        try refuse()
        channel.embeddedEventLoop.advanceTime(by: .seconds(74))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    /// A client that reads nothing has one refusal in memory, however many offers it sends.
    @Test func anOfferWaitsUntilTheRefusalBeforeItWasTaken() throws {
        let stall = Stall()
        try channel.pipeline.syncOperations.addHandlers([stall, connection])
        for _ in 0..<100 { try channel.writeInbound(ByteBuffer(string: Self.offer + Self.offer)) }
        for number in 1...3 {
            #expect(decisions.withLockedValue { $0.count } == number)
            try refuse()
            #expect(answers.refusals == number)
            #expect(decisions.withLockedValue { $0.count } == number)
            stall.pass()
            channel.embeddedEventLoop.run()
        }
    }

    @Test func aRefusalIsTheLastAnswerToAClientThatSaysSo() throws {
        try channel.pipeline.syncOperations.addHandlers([HalfClosed(), connection])
        let offer = Self.offer.replacing("Connection: upgrade", with: "Connection: upgrade, close")
        try channel.writeInbound(ByteBuffer(string: offer + Self.offer))
        try refuse()
        let answer = try sent()
        #expect(answer.contains("\r\nConnection: close\r\n"))
        #expect(answer.contains("\r\nDate: "))
        #expect(decisions.withLockedValue { $0.count } == 1)
        channel.embeddedEventLoop.advanceTime(by: .seconds(5))
        #expect(!channel.isActive)
    }

    /// `EmbeddedChannel` does not support a half-closed output.
    private final class HalfClosed: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer

        func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
            mode == .output ? promise?.succeed() : context.close(mode: mode, promise: promise)
        }
    }
}
