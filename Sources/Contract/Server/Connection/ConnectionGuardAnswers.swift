import HTTPTypes
public import NIOCore
import NIOHTTPTypes

/// How answers are written.
extension ConnectionGuard {
    public func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if isMuted {
            promise?.succeed()
            return
        }
        switch unwrapOutboundIn(data) {
        case .head(let response) where response.status.kind == .informational:
            output.append(response, isOld: false, to: context)
            output.note(promise)
        case .head(var response):
            hasAnswerBegun = true
            // A client that was not told to continue may or may not send its body, so the beginning of its next request
            // is unknown.
            if isQuiescing || exchange?.isLast == true || exchange?.awaitsContinue == true {
                response.headerFields[.connection] = "close"
            }
            isLastAnswer = response.headerFields.value(of: .connection)?.lowercased() == "close"
            output.append(response, isOld: isOldClient, to: context)
            output.note(promise)
        case .body(let bytes):
            if exchange?.isHead != true { append(bytes, context) }
            output.note(promise)
        case .end(let trailers):
            unanswered -= 1
            hasAnswerBegun = false
            exchange?.isAnswered = true
            // An answer to HEAD has no body, and so no end of chunks.
            if exchange?.isHead == true { output.skipEnd() } else { output.appendEnd(trailers, to: context) }
            let written = promise ?? context.eventLoop.makePromise()
            written.futureResult.assumeIsolated().whenComplete { [self] _ in answerWasWritten() }
            output.note(written)
            if isLastAnswer {
                finish(context)
            } else {
                if case .head = phase { since = context.eventLoop.now }
                setTimer(context)
                if refusal != nil { answerRefusal(context) } else { readWithheld(context) }
            }
        }
    }

    /// Whether the request's body takes memory that others wait for.
    var isInTheWay: Bool { exchange?.isHeld == true && memory?.bodies.isShort == true }
    var isHoldingBody: Bool { exchange?.isHeld == true }

    private func append(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        output.append(bytes, to: context)
        let size = bytes.readableBytes
        guard let answers = memory?.answers, size > MemoryBudget.small else { return }
        let written = context.eventLoop.makePromise(of: Void.self)
        answers.add(size)
        written.futureResult.whenComplete { _ in answers.remove(size) }
        output.note(written)
    }

    private func answerWasWritten() {
        exchange = nil
        guard let context, context.channel.isActive else { return }
        if blockedSince != nil { noteUnsent(context) }
        guard !isQuiescing else { return context.close(promise: nil) }
        passWaiting(context)
        closeIfOver(context)
    }

    public func flush(context: ChannelHandlerContext) {
        output.write(to: context)
        context.flush()
        // What is left of an answer may be too little to make the channel unwritable, and yet keep the whole in memory.
        if exchange?.isAnswered == true, blockedSince == nil { noteUnsent(context) }
    }

    public func channelWritabilityChanged(context: ChannelHandlerContext) {
        noteUnsent(context)
        context.fireChannelWritabilityChanged()
    }

    /// Notes whether the client is waited for, and gives it its time anew.
    private func noteUnsent(_ context: ChannelHandlerContext) {
        let isBlocked = !context.channel.isWritable || exchange?.isAnswered == true
        blockedSince = isBlocked ? context.eventLoop.now : nil
        unsentBytes = isBlocked ? unsent(context) : 0
        setTimer(context)
    }
}
