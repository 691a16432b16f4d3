import EventLoops
import HTTPTypes
import NIOCore

/// How answers are written. These are called on the connection's event loop.
extension ConnectionGuard {
    /// Whether the connection takes more of an answer at once.
    ///
    /// - Throws: `ChannelError.ioOnClosedChannel`.
    func hasRoom() throws -> Bool {
        guard let context, context.channel.isActive else { throw ChannelError.ioOnClosedChannel }
        return context.channel.isWritable
    }

    /// Writes the head of the answer to the request.
    ///
    /// - Parameter body: The number of bytes of the whole body, if it is written next.
    func write(_ status: HTTPResponse.Status, _ fields: HTTPFields, body: Int = 0) {
        guard let context, !isMuted, exchange?.isAnswered == false else { return }
        exchange?.hasAnswerBegun = true
        // A client that was not told to continue may or may not send its body, so the beginning of its next request
        // is unknown.
        let closes =
            isQuiescing || exchange?.isLast == true || exchange?.awaitsContinue == true
            || fields.value(of: .connection)?.lowercased() == "close"
        exchange?.isClosing = closes
        output.append(
            status, fields, date: DateField.now, closes: closes, isOld: exchange?.isOld ?? false, body: body,
            to: context)
    }

    /// Writes a part of the answer's body.
    func write(_ bytes: ByteBuffer) {
        guard let context, !isMuted, exchange?.isHead == false else { return }
        output.append(bytes, to: context)
        let size = bytes.readableBytes
        guard let answers = memory?.answers, size > MemoryBudget.small else { return }
        answers.add(size)
        completion.memory += size
    }

    /// Writes the end of the answer.
    func writeEnd(_ trailers: HTTPFields? = nil) {
        guard let context, !isMuted, exchange?.isAnswered == false else { return }
        exchange?.isAnswered = true
        // An answer to HEAD has no body, and so no end of chunks.
        if exchange?.isHead == true { output.skipEnd() } else { output.appendEnd(trailers, to: context) }
        completion.endsAnswer = true
        if exchange?.isClosing == true { return finish(context) }
        if case .head = phase { since = context.eventLoop.now }
        readWithheld(context)
    }

    /// The consequences of all that was written having been handed to the network.
    struct Completion {
        var endsAnswer = false
        /// The number of bytes that count as memory of answers.
        var memory = 0
        var closes = false
        var promise: EventLoopPromise<Void>?
    }

    /// Hands what was written to the network: to the kernel, as far as it takes it at once, and the rest to the channel.
    func flush() {
        guard let context else { return }
        let completion = completion
        self.completion = Completion()
        if output.isEmpty, writes == 0 { return complete(completion, nil) }
        if let direct, writes == 0, let bytes = output.takeSingle() {
            // Most answers are one buffer, which the kernel takes at once.
            let accepted = bytes.withUnsafeReadableBytes(direct.offer)
            if accepted == bytes.readableBytes { return complete(completion, nil) }
            var rest = bytes
            rest.moveReaderIndex(forwardBy: accepted)
            write([rest], to: context, completion)
        } else {
            write(output.take(), to: context, completion)
        }
        // What is left of an answer may be too little to make the channel unwritable, and yet keep the whole in memory.
        if exchange?.isAnswered == true, blockedSince == nil { noteUnsent(context) }
    }

    private func write(_ buffers: [ByteBuffer], to context: ChannelHandlerContext, _ completion: Completion) {
        let written = context.eventLoop.makePromise(of: Void.self)
        writes += 1
        written.futureResult.assumeIsolated().whenComplete { [self] result in
            writes -= 1
            let error: (any Error)? = if case .failure(let error) = result { error } else { nil }
            complete(completion, error)
        }
        for buffer in buffers.dropLast() { context.write(wrapOutboundOut(buffer), promise: nil) }
        // The promise is completed behind what was written before.
        context.writeAndFlush(wrapOutboundOut(buffers.last ?? ByteBuffer()), promise: written)
    }

    private func complete(_ completion: Completion, _ error: (any Error)?) {
        if completion.memory > 0 { memory?.answers.remove(completion.memory) }
        if let error { completion.promise?.fail(error) } else { completion.promise?.succeed() }
        if completion.endsAnswer { answerWasWritten() }
        if completion.closes { context?.close(promise: nil) }
    }

    /// Whether the request's body takes memory that others wait for.
    var isInTheWay: Bool { exchange?.isHeld == true && memory?.bodies.isShort == true }
    var isHoldingBody: Bool { exchange?.isHeld == true }

    private func answerWasWritten() {
        exchange = nil
        guard let context, context.channel.isActive else { return }
        if blockedSince != nil { noteUnsent(context) }
        guard !isQuiescing else { return context.close(promise: nil) }
        setTimer(context)
        guard parser.hasBytes else { return closeIfOver(context) }
        awaitsTurn = true
        queue?.add(self)
    }

    public func channelWritabilityChanged(context: ChannelHandlerContext) {
        noteUnsent(context)
        if context.channel.isWritable { requests?.resume() }
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

extension ConnectionGuard: LoopTurn {
    /// Goes on with the requests that the client has sent behind the last one: with one of them, if it is there as a whole and
    /// is answered at once.
    package func takeTurn() -> Int {
        awaitsTurn = false
        guard let context, context.channel.isActive else { return 1 }
        parse(context)
        requests?.completeReading()
        readWithheld(context)
        closeIfOver(context)
        return 1
    }
}
