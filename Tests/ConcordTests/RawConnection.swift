import Foundation
import NIOCore
import NIOPosix

/// A TCP connection that a test writes to byte by byte.
struct RawConnection {
    private let channel: any Channel
    private let received: AsyncThrowingStream<String, any Error>

    init(port: Int) async throws {
        let (received, continuation) = AsyncThrowingStream<String, any Error>.makeStream()
        self.received = received
        channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(.minutes(5))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Receiver(continuation))
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
    }

    func send(_ text: String) async throws {
        try await channel.writeAndFlush(ByteBuffer(string: text))
    }

    /// Returns all bytes until the peer closes.
    func rest() async throws -> String {
        var text = ""
        for try await piece in received { text += piece }
        return text
    }

    private final class Receiver: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let continuation: AsyncThrowingStream<String, any Error>.Continuation

        init(_ continuation: AsyncThrowingStream<String, any Error>.Continuation) { self.continuation = continuation }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            continuation.yield(String(buffer: unwrapInboundIn(data)))
        }
        func channelInactive(context: ChannelHandlerContext) { continuation.finish() }
        func errorCaught(context: ChannelHandlerContext, error: any Error) { continuation.finish(throwing: error) }
    }
}
