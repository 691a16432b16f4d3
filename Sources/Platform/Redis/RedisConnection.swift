import Dispatch
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import NIOSSL

/// A connection to Redis that publishes messages, or receives those of channels.
///
/// Its methods block, and are called on a thread that is no event loop. It is never repaired: after an error another one is
/// opened.
public final class RedisConnection: Sendable {
    /// The time within which Redis must answer.
    private static let patience = TimeAmount.seconds(5)

    private let channel: any Channel
    private let handler: RedisHandler
    private let inbox: RedisInbox

    /// Connects, and signs in.
    ///
    /// - Throws: ``RedisError``.
    public init(
        to server: RedisServer, group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
    ) throws(RedisError) {
        let loop = group.next()
        let inbox = RedisInbox()
        let handler = RedisHandler(loop, inbox)
        do {
            let tls = try server.isEncrypted ? Self.context(trusting: server.trustedCertificates) : nil
            channel = try ClientBootstrap(group: loop)
                .connectTimeout(Self.patience)
                .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                .channelOption(.socketOption(.so_keepalive), value: 1)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let pipeline = channel.pipeline.syncOperations
                        if let tls { try pipeline.addHandler(Self.handler(tls, server.host)) }
                        try pipeline.addHandler(handler)
                    }
                }
                .connect(host: server.host, port: server.port).wait()
        } catch {
            throw RedisError("\(server) cannot be reached: \(error)")
        }
        self.handler = handler
        self.inbox = inbox
        var commands: [[String]] = []
        if let password = server.password { commands.append(["AUTH"] + [server.user].compactMap(\.self) + [password]) }
        if server.database > 0 { commands.append(["SELECT", "\(server.database)"]) }
        do {
            // Without a password this one shows whether Redis wants one.
            try run(commands + [["PING"]])
        } catch {
            close()
            throw RedisError("\(server): \(error)")
        }
    }

    deinit { close() }

    private static func context(trusting file: String?) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        if let file { configuration.trustRoots = .file(file) }
        return try NIOSSLContext(configuration: configuration)
    }

    /// Returns the TLS handler. SNI cannot contain an IP address (RFC 6066 §3).
    private static func handler(_ tls: NIOSSLContext, _ host: String) throws -> NIOSSLClientHandler {
        let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
        return try NIOSSLClientHandler(context: tls, serverHostname: isAddress ? nil : host)
    }

    /// Whether it has ended.
    public var isClosed: Bool { !channel.isActive }

    public func close() { channel.close(promise: nil) }

    // MARK: Publishing

    /// Publishes messages, in order and in one round trip: all are sent before the first answer is awaited.
    ///
    /// - Throws: ``RedisError``. Some of them may have been published.
    public func publish(_ messages: [(channel: String, text: String)]) throws(RedisError) {
        try run(messages.map { ["PUBLISH", $0.channel, $0.text] })
    }

    private func run(_ commands: [[String]]) throws(RedisError) {
        var bytes = ByteBuffer()
        for words in commands { bytes.write(command: words) }
        let answers = handler.expect(commands.count)
        let (channel, loop) = (channel, channel.eventLoop)
        let deadline = loop.scheduleTask(in: Self.patience) { channel.close(promise: nil) }
        channel.writeAndFlush(bytes, promise: nil)
        do {
            let values = try answers.wait()
            deadline.cancel()
            for case .error(let text) in values { throw RedisError(text) }
        } catch {
            channel.close(promise: nil)
            throw error as? RedisError ?? RedisError("\(error)")
        }
    }

    // MARK: Receiving

    /// Receives the messages of channels from now on.
    public func subscribe(to channels: [String]) throws(RedisError) {
        // Redis answers once for each channel.
        for channel in channels { try run([["SUBSCRIBE", channel]]) }
    }

    /// Returns the messages that have arrived, after waiting for them for at most the given time.
    ///
    /// - Throws: ``RedisError`` when the connection has ended, or when more waited than fits.
    public func messages(waitingMilliseconds timeout: Int) throws(RedisError) -> [String] {
        try inbox.take(waitingMilliseconds: timeout)
    }
}

/// The messages that have arrived and were not taken yet. One thread takes them.
private final class RedisInbox: Sendable {
    /// The size of the messages that may wait, in bytes. A listener that falls behind further must read what it misses.
    private static let capacity = 16 << 20

    private struct State {
        var texts: [String] = []
        var size = 0
        var failure: RedisError?
    }

    private let state = NIOLockedValueBox(State())
    private let bell = DispatchSemaphore(value: 0)

    /// Adds a message.
    ///
    /// - Returns: Whether there was room for it. Otherwise the connection ends.
    func add(_ text: String) -> Bool {
        let (isFirst, fits) = state.withLockedValue { state in
            guard state.failure == nil, state.size + text.utf8.count <= Self.capacity else { return (false, false) }
            state.size += text.utf8.count
            state.texts.append(text)
            return (state.texts.count == 1, true)
        }
        if isFirst { bell.signal() }
        return fits
    }

    func fail(_ error: RedisError) {
        state.withLockedValue { state in
            if state.failure == nil { state.failure = error }
        }
        bell.signal()
    }

    func take(waitingMilliseconds timeout: Int) throws(RedisError) -> [String] {
        _ = bell.wait(timeout: .now() + .milliseconds(timeout))
        let (texts, failure) = state.withLockedValue { state in
            defer { (state.texts, state.size) = ([], 0) }
            return (state.texts, state.failure)
        }
        if texts.isEmpty, let failure { throw failure }
        // What arrived before the end is returned first.
        if failure != nil { bell.signal() }
        return texts
    }
}

/// Parses what Redis sends: answers, which come in the order of the commands, and messages. Its state belongs to its event
/// loop.
private final class RedisHandler: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer

    private struct Waiting {
        var count: Int
        var values: [RESPValue] = []
        let promise: EventLoopPromise<[RESPValue]>
    }

    private let loop: any EventLoop
    private let inbox: RedisInbox
    private var reader = RESPReader()
    private var waiting = CircularBuffer<Waiting>()
    private var failure: RedisError?

    init(_ loop: any EventLoop, _ inbox: RedisInbox) {
        self.loop = loop
        self.inbox = inbox
    }

    /// Returns the answers to the commands that are sent next.
    func expect(_ count: Int) -> EventLoopFuture<[RESPValue]> {
        let promise = loop.makePromise(of: [RESPValue].self)
        loop.execute {
            if let failure = self.failure {
                promise.fail(failure)
            } else if count == 0 {
                promise.succeed([])
            } else {
                self.waiting.append(Waiting(count: count, promise: promise))
            }
        }
        return promise.futureResult
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        reader.append(unwrapInboundIn(data))
        do {
            while let value = try reader.next() { try receive(value) }
        } catch {
            fail(error as? RedisError ?? RedisError("\(error)"))
            context.close(promise: nil)
        }
    }

    private func receive(_ value: RESPValue) throws {
        if case .array(let parts?) = value, parts.count == 3, parts[0].string == "message" {
            guard let text = parts[2].string else { throw RedisError("a message has no text") }
            guard inbox.add(text) else { throw RedisError("messages come faster than they are read") }
            return
        }
        guard !waiting.isEmpty else { throw RedisError("Redis answers what nobody has asked") }
        waiting[waiting.startIndex].values.append(value)
        let first = waiting[waiting.startIndex]
        guard first.values.count == first.count else { return }
        waiting.removeFirst()
        first.promise.succeed(first.values)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        fail(RedisError("\(error)"))
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        fail(RedisError("the connection ended"))
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { fail(RedisError("the connection ended")) }

    private func fail(_ error: RedisError) {
        if failure == nil { failure = error }
        let error = failure ?? error
        inbox.fail(error)
        for command in waiting { command.promise.fail(error) }
        waiting.removeAll()
    }
}
