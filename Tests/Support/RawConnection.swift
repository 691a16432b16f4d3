public import NIOCore
import NIOPosix

/// A TCP connection as bytes, for requests and frames that no client library would send.
public final class RawConnection {
    /// The connection ended before the expected bytes arrived.
    public struct Ended: Error {
        public let received: String

        public init(received: String) { self.received = received }
    }

    public let channel: any Channel
    private var chunks: AsyncStream<ByteBuffer>.Iterator
    private var buffer = ByteBuffer()

    /// - Parameters:
    ///   - reading: False leaves what the server sends in the network's buffers, which hold little.
    ///   - first: A text that is sent at once. Between two calls a busy machine may let a server's time for a head pass.
    public init(port: Int, reading: Bool = true, sending first: String = "") async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: ByteBuffer.self)
        chunks = stream.makeAsyncIterator()
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connectTimeout(.minutes(5))
        channel = try await (reading ? bootstrap : bootstrap.channelOption(.socketOption(.so_rcvbuf), value: 4096))
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.autoRead, value: reading)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Inbox(continuation))
                }
            }
            .connect(host: "127.0.0.1", port: port)
            .flatMap { channel in
                guard !first.isEmpty else { return channel.eventLoop.makeSucceededFuture(channel) }
                return channel.writeAndFlush(ByteBuffer(string: first)).map { channel }
            }
            .get()
    }

    public func send(_ text: String) async throws {
        try await channel.writeAndFlush(ByteBuffer(string: text))
    }

    public func send(_ bytes: [UInt8]) async throws {
        try await channel.writeAndFlush(ByteBuffer(bytes: bytes))
    }

    /// Sends each byte by itself, without suspending in between: a server waits only a limited time for a head.
    public func send(oneByOne bytes: some Sequence<UInt8>) async throws {
        let bytes = Array(bytes)
        try await channel.eventLoop.flatSubmit { [channel] in
            for byte in bytes.dropLast() { channel.writeAndFlush(ByteBuffer(bytes: [byte]), promise: nil) }
            return channel.writeAndFlush(ByteBuffer(bytes: bytes.suffix(1)))
        }.get()
    }

    /// Closes the client's half of the connection.
    public func finish() async throws {
        try await channel.close(mode: .output)
    }

    /// Ends the connection with a reset (RST).
    public func reset() async throws {
        try await (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        try? await channel.close()
    }

    public func close() async {
        try? await channel.close()
    }

    public func read(_ count: Int) async throws -> [UInt8] {
        while buffer.readableBytes < count {
            guard var chunk = await chunks.next() else { throw Ended(received: String(buffer: buffer)) }
            buffer.writeBuffer(&chunk)
        }
        return buffer.readBytes(length: count) ?? []
    }

    /// Returns all bytes until the server closes its half.
    public func readToEnd() async -> [UInt8] {
        while var chunk = await chunks.next() { buffer.writeBuffer(&chunk) }
        return buffer.readBytes(length: buffer.readableBytes) ?? []
    }

    // MARK: HTTP

    public struct Response {
        public var status: Int
        /// The header fields, with names in lower case.
        public var fields: [String: String]
        public var body: String
    }

    /// Reads a response: a head, and a body of its `Content-Length`.
    ///
    /// - Parameter hasBody: False for the answer to a HEAD.
    public func readResponse(hasBody: Bool = true) async throws -> Response {
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) { head += try await read(1) }
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            fields[parts[0].lowercased()] = parts[1].trimmingPrefix(" ").description
        }
        let length = hasBody ? fields["content-length"].flatMap(Int.init) ?? 0 : 0
        return Response(
            status: Int(lines[0].split(separator: " ")[1]) ?? 0, fields: fields,
            body: String(decoding: try await read(length), as: UTF8.self))
    }
}

private final class Inbox: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let continuation: AsyncStream<ByteBuffer>.Continuation

    init(_ continuation: AsyncStream<ByteBuffer>.Continuation) {
        self.continuation = continuation
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        continuation.yield(unwrapInboundIn(data))
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event { continuation.finish() }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        continuation.finish()
    }
}
