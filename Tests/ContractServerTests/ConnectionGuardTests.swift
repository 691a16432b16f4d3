import Foundation
import HTTPTypes
import Logging
import NIOCore
import NIOEmbedded
import NIOPosix
import ServiceLifecycle
import Testing

@testable import ContractServer

/// The guard works on a virtual clock.
@Suite(.timeLimit(.minutes(30))) struct ConnectionGuardTests {
    private let channel = EmbeddedChannel()
    private let front = Front()
    private let back = Back()
    private let connection: ConnectionGuard

    init() throws {
        connection = ConnectionGuard(memory: RequestMemory()) { ByteBuffer(string: "Malformed: \($1)") }
        connection.requests = back
        try channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 1)).wait()
        try channel.pipeline.syncOperations.addHandlers([front, connection])
        channel.read()
    }

    private func receive(_ text: String) throws {
        try channel.writeInbound(ByteBuffer(string: text))
        channel.read()
    }

    private func pass(_ time: TimeAmount) {
        channel.embeddedEventLoop.advanceTime(by: time)
    }

    private func answer(_ status: HTTPResponse.Status = .ok, close: Bool = false) {
        var fields: HTTPFields = [.contentLength: "0"]
        if close { fields[.connection] = "close" }
        connection.write(status, fields)
        connection.writeEnd()
        connection.flush()
        // The next request begins in a turn of its own.
        channel.embeddedEventLoop.run()
    }

    private func sent() throws -> String {
        var text = ""
        while let buffer = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: buffer) }
        // The time of an answer is its own.
        return text.replacing(#/\r\nDate: [^\r]+/#, with: "")
    }

    /// Checks that the last answer is the 400 whose body names the request as its header does.
    ///
    /// - Returns: The request id, and what was sent before that answer.
    private func malformed() throws -> (id: String, before: String) {
        let text = try sent()
        let start = try #require(text.range(of: "HTTP/1.1 400 Bad Request")?.lowerBound)
        let id = String(try #require(text.components(separatedBy: "Malformed: ").last))
        let answer = [
            "HTTP/1.1 400 Bad Request", "Content-Type: application/json", "Content-Length: \(11 + id.utf8.count)",
            "X-Request-Id: \(id)", "X-Content-Type-Options: nosniff", "Connection: close", "", "Malformed: \(id)",
        ].joined(separator: "\r\n")
        #expect(String(text[start...]) == answer)
        return (id, String(text[..<start]))
    }

    // MARK: Heads

    @Test func aConnectionMustSendAHead() {
        pass(.seconds(9))
        #expect(channel.isActive)
        pass(.seconds(1))
        #expect(!channel.isActive)
    }

    @Test func aSlowHeadIsCut() throws {
        try receive("GET / HTTP/1.1\r\nHost: a\r\n")
        for _ in 1...4 {
            pass(.seconds(2))
            try receive("A: b\r\n")
        }
        #expect(channel.isActive)
        pass(.seconds(2))
        #expect(!channel.isActive)
    }

    @Test func anIdleConnectionIsKeptFor75Seconds() throws {
        for _ in 1...3 {
            try receive("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            answer()
            pass(.seconds(74))
            #expect(channel.isActive)
        }
        pass(.seconds(1))
        #expect(!channel.isActive)
    }

    @Test func aFurtherHeadHas10SecondsFromItsFirstByte() throws {
        try receive("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        answer()
        pass(.seconds(70))
        try receive("GET ")
        pass(.seconds(9))
        try receive("/ ")
        #expect(channel.isActive)
        pass(.seconds(1))
        #expect(!channel.isActive)
    }

    @Test func theServerMayTakeItsTime() throws {
        try receive("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /half")
        try receive("-sent")
        pass(.hours(1))
        #expect(channel.isActive)
        answer()
        pass(.seconds(9))
        #expect(channel.isActive)
        pass(.seconds(1))
        #expect(!channel.isActive)
    }

    // MARK: Bodies

    @Test func aBodyMustMakeProgress() throws {
        try receive("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n")
        for _ in 1...5 {
            pass(.seconds(29))
            try receive("x")
        }
        #expect(channel.isActive)
        pass(.seconds(30))
        #expect(!channel.isActive)
    }

    /// Bytes that are not part of a body, such as chunk sizes, count as progress too.
    @Test func aRequestMayTake10Minutes() throws {
        try receive("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;")
        for _ in 1...29 {
            pass(.seconds(20))
            try receive("x")
        }
        pass(.seconds(19))
        #expect(channel.isActive)
        pass(.seconds(1))
        #expect(!channel.isActive)
    }

    /// A body of unknown length is read as it is asked for.
    @Test func timeInWhichTheServerDoesNotReadDoesNotCount() throws {
        try receive("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx")
        let reads = front.reads
        channel.read()
        pass(.seconds(300))
        #expect(front.reads == reads)
        connection.demand(isHeld: false)
        #expect(front.reads > reads)
        pass(.seconds(29))
        #expect(channel.isActive)
        pass(.seconds(1))
        #expect(!channel.isActive)
    }

    @Test func aClientMustTakeItsAnswer() throws {
        try receive("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        channel.isWritable = false
        channel.pipeline.fireChannelWritabilityChanged()
        pass(.seconds(59))
        #expect(channel.isActive)
        pass(.seconds(1))
        #expect(!channel.isActive)
    }

    /// The answer is so small that the channel accepts more, but it stays in memory until its last byte has been sent.
    @Test func aClientMustTakeTheRestOfItsAnswer() throws {
        front.isTaking = false
        for path in ["/first", "/second"] { try receive("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n") }
        answer()
        pass(.seconds(59))
        #expect(back.parts == ["/first", "end"])
        front.take()
        channel.embeddedEventLoop.run()
        #expect(back.parts == ["/first", "end", "/second", "end"])
        pass(.hours(1))
        #expect(channel.isActive)
        answer()
        pass(.seconds(59))
        #expect(channel.isActive)
        pass(.seconds(1))
        #expect(!channel.isActive)
    }

    /// A request that is refused by its head keeps its connection, and its body takes no memory.
    @Test func aBodyBehindItsAnswerIsDropped() throws {
        try receive("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nx")
        answer(.notFound)
        let parts = back.parts
        for _ in 1..<10 { try receive(String(repeating: "x", count: 100_000)) }
        #expect(back.parts == parts)
        try receive(String(repeating: "x", count: 99_999) + "GET /b HTTP/1.1\r\nHost: a\r\n\r\n")
        // The next request waits for the connection's turn.
        #expect(back.parts == parts + ["end"])
        channel.embeddedEventLoop.run()
        #expect(back.parts == parts + ["end", "/b", "end"])
        #expect(channel.isActive)
    }

    // MARK: The end

    @Test func anEarlyLastAnswerIsLeftToBeRead() throws {
        try receive("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nx")
        answer(.contentTooLarge, close: true)
        #expect(try sent().hasPrefix("HTTP/1.1 413"))
        #expect(front.isOutputClosed)
        let parts = back.parts
        let reads = front.reads
        for _ in 1...4 {
            pass(.seconds(1))
            try receive("more")
        }
        #expect(back.parts == parts)
        #expect(front.reads > reads)
        #expect(channel.isActive)
        pass(.seconds(1))
        #expect(!channel.isActive)
    }

    @Test func aLingeringConnectionEndsWithItsClient() throws {
        try receive("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        answer(close: true)
        #expect(channel.isActive)
        channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(!channel.isActive)
    }

    // MARK: Malformed requests

    @Test(arguments: [
        "nonsense\r\n\r\n", "GET / HTTP/2.0\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n",
    ])
    func otherProtocolsGetA400(_ text: String) throws {
        try receive(text)
        let answer = try malformed()
        #expect(UUID(uuidString: answer.id) != nil)
        #expect(answer.before == "")
        #expect(back.parts.isEmpty)
        try receive("more")
        #expect(try sent() == "")
        #expect(back.errors == 0)
        pass(.seconds(5))
        #expect(!channel.isActive)
    }

    @Test func earlierAnswersAreSentFirst() throws {
        try receive("GET / HTTP/1.1\r\nHost: a\r\nX-Request-Id: first\r\n\r\nnonsense\r\n\r\n")
        #expect(try sent() == "")
        answer()
        let last = try malformed()
        #expect(last.before == "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        #expect(UUID(uuidString: last.id) != nil)
        #expect(back.errors == 0)
    }

    @Test func aMalformedBodyEndsItsHandler() throws {
        try receive(
            "POST / HTTP/1.1\r\nHost: a\r\nX-Request-Id: own\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n")
        #expect(try malformed().id == "own")
        #expect(back.errors == 1)
        answer(.internalServerError)
        #expect(try sent() == "")
    }

    @Test func anAnswerThatHasBegunIsCutShort() throws {
        try receive("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        connection.write(.ok, [.contentLength: "9"])
        connection.flush()
        try receive("zz\r\n")
        #expect(try sent() == "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n")
        #expect(front.isOutputClosed)
        #expect(back.errors == 1)
    }

    @Test func aConnectionThatEndsInARequestIsRefused() throws {
        try receive("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /half")
        channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(back.parts == ["/", "end"])
        answer()
        #expect(try sent().contains("\r\n\r\nHTTP/1.1 400 Bad Request\r\n"))
        #expect(!channel.isActive)
    }

    // MARK: Other protocols

    /// What follows may be meant for another server.
    @Test func aCONNECTIsTheLastRequest() throws {
        try receive("GET /first HTTP/1.1\r\nHost: a\r\n\r\nCONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n")
        answer()
        #expect(try !sent().contains("Connection: close"))
        answer()
        #expect(try sent().contains("Connection: close"))
        #expect(front.isOutputClosed)
    }

    /// A client whose offer of another protocol is not taken may go on with HTTP.
    @Test func anOfferThatIsNotTakenIsDropped() throws {
        try receive("GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n")
        #expect(back.heads.first?.fields[.upgrade] == nil)
        answer()
        #expect(try !sent().contains("Connection: close"))
        try receive("GET /next HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(back.parts.suffix(2) == ["/next", "end"])
    }
}

/// The socket's end of the pipeline. `EmbeddedChannel` does not support a half-closed output.
private final class Front: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    /// Whether writes complete at once. If false, they wait for ``take()``.
    var isTaking = true
    private(set) var isOutputClosed = false
    private(set) var reads = 0
    private var written: [(data: NIOAny, promise: EventLoopPromise<Void>?)] = []
    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        for write in written { write.promise?.fail(ChannelError.ioOnClosedChannel) }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if isTaking { context.write(data, promise: promise) } else { written.append((data, promise)) }
    }

    /// Completes the writes that are waiting.
    func take() {
        for write in written { context?.write(write.data, promise: write.promise) }
        written = []
        context?.flush()
    }

    func read(context: ChannelHandlerContext) {
        reads += 1
        context.read()
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode == .output else { return context.close(mode: mode, promise: promise) }
        isOutputClosed = true
        promise?.succeed()
    }
}

/// The server's end of the connection.
private final class Back: RequestReceiver {
    private(set) var heads: [RequestHead] = []
    /// The targets, texts of bodies, and ends that were received.
    private(set) var parts: [String] = []
    private(set) var errors = 0

    func receive(_ head: RequestHead) {
        heads.append(head)
        parts.append(head.target)
    }

    func receive(_ head: RequestHead, refused refusal: ConnectionUpgrade.Refusal) {
        parts.append("\(head.target) \(refusal.status.code)")
    }

    func receive(_ bytes: ByteBuffer) { parts.append(String(buffer: bytes)) }
    func receiveEnd() { parts.append("end") }
    func completeReading() {}
    func fail(_ error: any Error) { errors += 1 }
    func resume() {}
    func end() {}
}
