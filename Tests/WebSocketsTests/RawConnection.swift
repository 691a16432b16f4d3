import NIOCore
import NIOPosix

/// A TCP connection as bytes, for requests and frames that no client library would send.
final class RawConnection {
    struct Ended: Error {
        let received: String
    }

    let channel: any Channel
    private var chunks: AsyncStream<ByteBuffer>.Iterator
    private var buffer = ByteBuffer()

    init(port: Int) async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: ByteBuffer.self)
        chunks = stream.makeAsyncIterator()
        channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Inbox(continuation))
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
    }

    func send(_ text: String) async throws {
        try await channel.writeAndFlush(ByteBuffer(string: text))
    }

    func send(_ bytes: [UInt8]) async throws {
        try await channel.writeAndFlush(ByteBuffer(bytes: bytes))
    }

    /// Sends each byte by itself, without a task's turn between two: a server waits for a head only so long.
    func send(oneByOne bytes: some Sequence<UInt8>) async throws {
        let bytes = Array(bytes)
        try await channel.eventLoop.flatSubmit { [channel] in
            for byte in bytes.dropLast() { channel.writeAndFlush(ByteBuffer(bytes: [byte]), promise: nil) }
            return channel.writeAndFlush(ByteBuffer(bytes: bytes.suffix(1)))
        }.get()
    }

    /// Shuts our half down.
    func finish() async throws {
        try await channel.close(mode: .output)
    }

    func close() async {
        try? await channel.close()
    }

    func read(_ count: Int) async throws -> [UInt8] {
        while buffer.readableBytes < count {
            guard var chunk = await chunks.next() else { throw Ended(received: String(buffer: buffer)) }
            buffer.writeBuffer(&chunk)
        }
        return buffer.readBytes(length: count) ?? []
    }

    /// Everything until the server closes its half.
    func readToEnd() async -> [UInt8] {
        while var chunk = await chunks.next() { buffer.writeBuffer(&chunk) }
        return buffer.readBytes(length: buffer.readableBytes) ?? []
    }

    // MARK: HTTP

    struct Response {
        var status: Int
        var fields: [String: String]
        var body: String
    }

    /// A head, and a body of the given `Content-Length`.
    func readResponse() async throws -> Response {
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) { head += try await read(1) }
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            fields[parts[0].lowercased()] = parts[1].trimmingPrefix(" ").description
        }
        let length = fields["content-length"].flatMap(Int.init) ?? 0
        return Response(
            status: Int(lines[0].split(separator: " ")[1]) ?? 0, fields: fields,
            body: String(decoding: try await read(length), as: UTF8.self))
    }

    static let handshake = handshake()

    /// The example of RFC 6455 §1.3.
    static func handshake(_ path: String = "/ws", extra: String = "") -> String {
        "GET \(path) HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\(extra)\r\n"
    }

    /// A connection whose handshake is done.
    static func upgraded(port: Int) async throws -> RawConnection {
        let connection = try await RawConnection(port: port)
        try await connection.send(handshake)
        let response = try await connection.readResponse()
        guard response.status == 101 else { throw Ended(received: "\(response)") }
        return connection
    }

    // MARK: WebSocket

    struct Frame: Equatable {
        var opcode: UInt8
        var payload: [UInt8]

        static func text(_ text: String) -> Frame { Frame(opcode: 1, payload: Array(text.utf8)) }

        /// Of a close frame; 0 without one.
        var closeCode: Int { payload.count < 2 ? 0 : Int(payload[0]) << 8 | Int(payload[1]) }
    }

    /// One unfragmented, unmasked frame.
    func readFrame() async throws -> Frame {
        let header = try await read(2)
        var length = Int(header[1])
        if length == 126 { length = try await read(2).reduce(0) { $0 << 8 | Int($1) } }
        if length == 127 { length = try await read(8).reduce(0) { $0 << 8 | Int($1) } }
        return Frame(opcode: header[0] & 0x0F, payload: try await read(length))
    }
}

/// A client's frame, masked unless told otherwise.
func frame(_ firstByte: UInt8, _ payload: [UInt8] = [], masked: Bool = true) -> [UInt8] {
    let mask: UInt8 = masked ? 0x80 : 0
    var bytes = [firstByte]
    switch payload.count {
    case 0..<126: bytes.append(mask | UInt8(payload.count))
    case 126..<65536: bytes += [mask | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
    default: bytes += [mask | 127] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: payload.count >> ($0 * 8)) }
    }
    guard masked else { return bytes + payload }
    let key: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
    return bytes + key + payload.enumerated().map { $1 ^ key[$0 % 4] }
}

func frame(_ firstByte: UInt8, _ text: String) -> [UInt8] {
    frame(firstByte, Array(text.utf8))
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
