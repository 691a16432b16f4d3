import HTTPTypes
public import NIOCore

/// How a connection ends: with a refusal, with a last answer, or by the client's doing.
extension ConnectionGuard {
    // MARK: Refusals

    /// Answers a request that is none, or that breaks a rule, and ends the connection.
    func answerRefusal(_ context: ChannelHandlerContext) {
        guard let refusal else { return }
        let isAmidRequest = if case .body = phase { true } else { false }
        // An answer that has begun ends here, cut short; one that is complete is the last.
        if exchange.map({ !$0.hasAnswerBegun }) ?? !isAmidRequest {
            let id = refusal.requestID ?? RequestID.make(for: exchange?.fields ?? [:])
            let body = refused(refusal.refusal, id)
            var fields: HTTPFields = [
                .contentType: "application/json", .contentLength: String(body.readableBytes), .requestID: id,
                .xContentTypeOptions: "nosniff",
            ]
            if refusal.refusal.status == .serviceUnavailable { fields[.retryAfter] = "5" }
            output.append(
                refusal.refusal.status, fields, closes: true, isOld: exchange?.isOld ?? false, to: context)
            if exchange?.isHead != true { output.append(body, to: context) }
        }
        finish(context)
        if isAmidRequest { requests?.fail(BodyCutShort()) }
    }

    // MARK: The end

    /// Closes the output behind the last answer. To close at once would make the kernel answer the client's further
    /// bytes with a reset, which can destroy the answer before it is read (RFC 9112 §9.6).
    func finish(_ context: ChannelHandlerContext) {
        phase = .discarding
        parser = RequestParser()
        since = context.eventLoop.now
        isMuted = true
        setTimer(context)
        guard !isInputOver, !isQuiescing else {
            // There is nothing to wait for. Closing at once would drop what has not been sent.
            completion.closes = true
            return flush()
        }
        flush()
        let closed = context.eventLoop.makePromise(of: Void.self)
        closed.futureResult.assumeIsolated().whenSuccess { [self] in
            guard !isQuiescing, !isInputOver else { return context.close(promise: nil) }
            phase = .lingering
            since = context.eventLoop.now
            setTimer(context)
            context.read()
        }
        context.close(mode: .output, promise: closed)
        context.read()
    }

    /// Closes a connection whose client has sent all that it wanted to, and has all answers.
    func closeIfOver(_ context: ChannelHandlerContext) {
        guard isInputOver, exchange == nil, refusal == nil, !parser.hasBytes else { return }
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
            if exchange == nil || cancelDecision != nil { context.close(promise: nil) }
        }
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
            parse(context)
            closeIfOver(context)
        case (_, is ChannelShouldQuiesceEvent):
            quiesce(context)
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }

    public func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    func end() {
        cancelDecision.take()?()
        requests?.end()
        requests = nil
        direct = nil
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
            refuse(RequestParser.Violation(.tooManyConnections), context)
        case .dropped:
            context.close(promise: nil)
        }
    }
}
