import Foundation
import Logging
import NIOCore

/// Lets a listener accept many connections at once, and pauses it while the process has no file descriptor left for another.
///
/// Without the pause NIO would retry as fast as it can. With this handler it retries four times a second, and one line is
/// logged. Meanwhile clients wait in the system's backlog.
final class AcceptPause: ChannelInboundHandler {
    typealias InboundIn = any Channel

    private static let pause = TimeAmount.milliseconds(250)
    /// The number of connections that are accepted before the loop does its other work. NIO would accept 4, which is few for
    /// a busy loop when all clients connect after a restart.
    private static let atOnce: UInt = 64

    private let logger: Logger
    private var isShort = false

    private init(_ logger: Logger) { self.logger = logger }

    /// Adds the handler in front of a listening channel.
    static func add(to channel: any Channel, _ logger: Logger) {
        channel.eventLoop.execute {
            try? channel.syncOptions?.setOption(.maxMessagesPerRead, value: atOnce)
            try? channel.pipeline.syncOperations.addHandler(AcceptPause(logger), position: .first)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isShort {
            isShort = false
            logger.notice("connections are accepted again")
        }
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? IOError, [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error.errnoCode) else {
            return context.fireErrorCaught(error)
        }
        if !isShort {
            isShort = true
            logger.error(
                "no connection can be accepted: the process has no descriptor left (ulimit -n)",
                metadata: ["error": "\(error)"])
        }
        let channel = context.channel
        // Not reading would not help: the system would keep reporting the waiting connections.
        channel.setOption(.autoRead, value: false).whenFailure { _ in }
        channel.eventLoop.scheduleTask(in: Self.pause) {
            channel.setOption(.autoRead, value: true).whenFailure { _ in }
        }
    }
}
