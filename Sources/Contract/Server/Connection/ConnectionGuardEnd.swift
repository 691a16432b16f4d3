import HTTPTypes
public import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// How a connection ends: with a refusal, with a last answer, or by the client's doing.
extension ConnectionGuard {
    // MARK: Refusals

    /// Writes the refusal, once it is the refused request's turn.
    func answerRefusal(_ context: ChannelHandlerContext) {
        guard let refusal else { return }
        let earlier: Int
        if case .body = phase { earlier = unanswered - 1 } else { earlier = unanswered }
        guard earlier == 0 else { return }
        if !hasAnswerBegun {
            let id = refusal.requestID ?? RequestID.make(for: headers)
            let body = refused(refusal.reason, id)
            var response = HTTPResponse(
                status: refusal.reason.status,
                headerFields: [
                    .contentType: "application/json", .contentLength: String(body.readableBytes), .requestID: id,
                    .xContentTypeOptions: "nosniff", .connection: "close",
                ])
            if refusal.reason.status == .serviceUnavailable { response.headerFields[.retryAfter] = "5" }
            output.append(response, isOld: isOldClient, to: context)
            if exchange?.isHead != true { output.append(body, to: context) }
        }
        // An answer that has begun ends here, cut short.
        let wasInBody = unanswered > 0
        finish(context)
        if wasInBody { context.fireErrorCaught(refusal.error) }
    }

    // MARK: The end

    /// Closes the output behind the last answer. To close at once would make the kernel answer the client's further
    /// bytes with a reset, which can destroy the answer before it is read (RFC 9112 §9.6).
    func finish(_ context: ChannelHandlerContext) {
        phase = .discarding
        waiting.removeAll()
        since = context.eventLoop.now
        isMuted = true
        setTimer(context)
        guard !isInputOver, !isQuiescing else {
            // There is nothing to wait for. Closing at once would drop what has not been sent.
            let written = context.eventLoop.makePromise(of: Void.self)
            written.futureResult.assumeIsolated().whenComplete { _ in context.close(promise: nil) }
            output.note(written)
            return flush(context: context)
        }
        flush(context: context)
        close(context: context, mode: .output, promise: nil)
        context.read()
    }

    /// Closes a connection whose client has sent all that it wanted to, and has all answers.
    func closeIfOver(_ context: ChannelHandlerContext) {
        guard isInputOver, exchange == nil, waiting.isEmpty, refusal == nil else { return }
        context.close(promise: nil)
    }

    /// Lets the server stop: the answer that is being made is the last.
    private func quiesce(_ context: ChannelHandlerContext) {
        isQuiescing = true
        switch phase {
        case .discarding:
            break
        case .lingering:
            context.close(promise: nil)
        case .head, .body:
            if exchange == nil { context.close(promise: nil) }
        }
    }

    public func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode == .output else { return context.close(mode: mode, promise: promise) }
        let closed = promise ?? context.eventLoop.makePromise()
        closed.futureResult.assumeIsolated().whenSuccess { [self] in
            guard !isQuiescing, !isInputOver else { return context.close(promise: nil) }
            phase = .lingering
            since = context.eventLoop.now
            setTimer(context)
            context.read()
        }
        context.close(mode: .output, promise: closed)
    }

    public func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch (phase, event) {
        case (.discarding, ChannelEvent.inputClosed):
            // The last answer may not have been sent yet.
            isInputOver = true
        case (.lingering, ChannelEvent.inputClosed):
            context.close(promise: nil)
        case (_, ChannelEvent.inputClosed):
            isInputOver = true
            // Behind it, what waits would never be heard.
            guard waiting.isEmpty else {
                isEndWithheld = true
                return
            }
            context.fireUserInboundEventTriggered(event)
            closeIfOver(context)
        case (_, is ChannelShouldQuiesceEvent):
            quiesce(context)
        case (_, is HTTPServerUpgradeEvents):
            context.fireUserInboundEventTriggered(event)
            context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }

    // MARK: Admission

    func start(_ context: ChannelHandlerContext) {
        since = context.eventLoop.now
        setTimer(context)
        guard let connections else { return }
        let address = context.channel.remoteAddress?.ipAddress
        let admission = connections.enter(address)
        context.channel.closeFuture.whenComplete { _ in connections.leave(address, admission) }
        switch admission {
        case .admitted:
            break
        case .refused:
            refusal = (.tooManyConnections, ConnectionLimits.Reached(), nil)
            answerRefusal(context)
        case .dropped:
            context.close(promise: nil)
        }
    }
}
