import NIOCore
import NIOPosix

/// Keep-alive connections that each send a request when the previous one has been answered. The code is as lean as
/// possible, because the measured servers share the machine with it.
///
/// Everything runs on one event loop, to which the state belongs.
final class HTTPLoad: @unchecked Sendable {
    /// The results of one turn.
    struct Turn {
        var requests = 0
        var duration = Duration.zero
        /// The latencies in nanoseconds, in ascending order.
        var latencies: [Int64] = []

        var perSecond: Double { Double(requests) / duration.inSeconds }
        func percentile(_ share: Double) -> Duration {
            guard !latencies.isEmpty else { return .zero }
            return .nanoseconds(latencies[min(latencies.count - 1, Int(Double(latencies.count) * share))])
        }
    }

    /// The requests that are still to be sent.
    private enum Work {
        case again(KeyedRequest, until: ContinuousClock.Instant)
        case each(ArraySlice<ByteBuffer>)

        mutating func next() -> ByteBuffer? {
            switch self {
            case .again(var request, let end):
                guard .now < end else { return nil }
                let bytes = request.next()
                self = .again(request, until: end)
                return bytes
            case .each(var rest):
                let request = rest.popFirst()
                self = .each(rest)
                return request
            }
        }
    }

    private let eventLoop: any EventLoop
    private var connections: [HTTPConnection] = []
    private var work = Work.each([])
    private var parked = 0
    private var turn = Turn()
    private var whenParked: EventLoopPromise<Void>?
    /// The reason why a connection ended. It may have ended between two turns, so the next turn throws it.
    private var failure: Failed?

    private init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    static func connect(_ count: Int, to port: Int) async throws -> HTTPLoad {
        let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        let load = HTTPLoad(eventLoop)
        for _ in 0..<count {
            _ = try await ClientBootstrap(group: eventLoop)
                .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                // A second read after each answer would find nothing.
                .channelOption(.maxMessagesPerRead, value: 1)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let connection = HTTPConnection(load)
                        load.connections.append(connection)
                        load.parked += 1
                        try channel.pipeline.syncOperations.addHandler(connection)
                    }
                }
                .connect(host: "127.0.0.1", port: port).get()
        }
        return load
    }

    /// Keeps all connections busy with one request for a while, and waits for the last answers.
    func run(for duration: Duration, sending request: String) async throws -> Turn {
        try await run(.again(KeyedRequest(request), until: .now + duration))
    }

    /// Sends each request once, in this order, and waits for the last answers.
    func run(sending requests: [String]) async throws -> Turn {
        try await run(.each(requests.map { ByteBuffer(string: $0) }[...]))
    }

    private func run(_ work: Work) async throws -> Turn {
        let parked = eventLoop.makePromise(of: Void.self)
        let start = ContinuousClock.now
        eventLoop.execute {
            if let failure = self.failure { return parked.fail(failure) }
            self.whenParked = parked
            self.turn = Turn()
            self.work = work
            self.parked = 0
            for connection in self.connections { self.proceed(connection) }
        }
        try await parked.futureResult.get()
        return try await eventLoop.submit {
            self.turn.duration = ContinuousClock.now - start
            self.turn.latencies.sort()
            return self.turn
        }.get()
    }

    func close() async throws {
        try await eventLoop.submit { for connection in self.connections { connection.close() } }.get()
    }

    // MARK: On the event loop

    fileprivate func answered(_ connection: HTTPConnection, in latency: TimeAmount) {
        turn.requests += 1
        turn.latencies.append(latency.nanoseconds)
        proceed(connection)
    }

    private func proceed(_ connection: HTTPConnection) {
        if let request = work.next() { return connection.send(request) }
        parked += 1
        if parked == connections.count { whenParked?.succeed() }
    }

    fileprivate func failed(_ text: String) {
        let failure = Failed(text)
        self.failure = failure
        whenParked?.fail(failure)
    }
}

/// Reads just enough of an answer to know where it ends.
private final class HTTPConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let load: HTTPLoad
    private var context: ChannelHandlerContext?
    private var sent = NIODeadline.now()
    private var isClosing = false
    private var received = ByteBuffer()
    /// The length of the answer that is being received, once its head is complete.
    private var length: Int?

    init(_ load: HTTPLoad) { self.load = load }

    func send(_ request: ByteBuffer) {
        sent = .now()
        context?.writeAndFlush(wrapOutboundOut(request), promise: nil)
    }

    func close() {
        isClosing = true
        context?.close(promise: nil)
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelInactive(context: ChannelHandlerContext) {
        if !isClosing { load.failed("the server closed a connection: \(String(buffer: received))") }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        if received.readableBytes == 0 { received = bytes } else { received.writeBuffer(&bytes) }
        if length == nil { length = received.withUnsafeReadableBytes(AnswerHead.lengthOfAnswer) }
        guard let length, received.readableBytes >= length else { return }
        // "HTTP/1.1 200 OK"
        guard received.getInteger(at: received.readerIndex + 9, as: UInt8.self) == UInt8(ascii: "2") else {
            return load.failed("the server refused: \(String(buffer: received))")
        }
        received.clear()
        self.length = nil
        load.answered(self, in: .now() - sent)
    }
}

enum AnswerHead {
    private static let contentLength = Array("\ncontent-length:".utf8)

    /// Returns the length of an answer including its head, or nil while the head is incomplete.
    static func lengthOfAnswer(_ bytes: UnsafeRawBufferPointer) -> Int? {
        var body = 0
        var index = 0
        while index + 3 < bytes.count {
            defer { index += 1 }
            guard bytes[index] == UInt8(ascii: "\n") else { continue }
            if bytes[index + 1] == UInt8(ascii: "\r"), bytes[index + 2] == UInt8(ascii: "\n") {
                return index + 3 + body
            }
            if hasContentLength(bytes, at: index) { body = number(bytes, from: index + contentLength.count) }
        }
        // The blank line may be at the very end.
        if bytes.count >= 3, bytes.suffix(3).elementsEqual("\n\r\n".utf8) { return bytes.count + body }
        return nil
    }

    private static func hasContentLength(_ bytes: UnsafeRawBufferPointer, at start: Int) -> Bool {
        guard start + contentLength.count < bytes.count else { return false }
        // The name's letters may be upper or lower case.
        for (offset, byte) in contentLength.enumerated() where bytes[start + offset] | 0x20 != byte | 0x20 {
            return false
        }
        return true
    }

    private static func number(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var value = 0
        for byte in bytes.dropFirst(start).drop(while: { $0 == UInt8(ascii: " ") }) {
            guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte else { break }
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
        }
        return value
    }
}
