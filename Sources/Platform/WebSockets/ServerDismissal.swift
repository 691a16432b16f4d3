import NIOCore
import NIOHTTPTypes

/// Ends the task in which the HTTP server waits for the connection's requests, which has more than half of the memory
/// of an idle socket.
///
/// It is between the socket and `NIOAsyncChannel`, sends the latter an error, and intercepts the server's reaction,
/// which is to close the channel. Then it removes itself. Graceful shutdown does not need that task: it is an event in
/// the pipeline, and waits for channels. Cancelling the server's task no longer closes its sockets.
final class ServerDismissal: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = Never
    typealias OutboundIn = HTTPResponsePart

    /// The error in the server's log, at trace level.
    struct ConnectionIsNowAWebSocket: Error {}

    func handlerAdded(context: ChannelHandlerContext) {
        context.fireErrorCaught(ConnectionIsNowAWebSocket())
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        promise?.fail(ConnectionIsNowAWebSocket())
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        promise?.succeed()
        if mode == .all {
            context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        }
    }
}
