public import NIOCore

extension ConnectionGuard {
    /// The time limits for a client. A connection that takes longer is closed without an answer.
    public struct Limits: Sendable {
        /// The time from the opening of the connection, or the first byte of a further request, to the end of the head.
        public var header: TimeAmount = .seconds(10)
        /// The time between an answer and the first byte of the next request.
        public var keepAlive: TimeAmount = .seconds(75)
        /// The time without a byte in the middle of a request. It counts only while the server wants to read.
        public var bodyProgress: TimeAmount = .seconds(30)
        /// The time from the end of a request's head to its last byte.
        public var request: TimeAmount = .seconds(600)
        /// The time without the client taking any of an answer that waits for it, or all of a last answer.
        public var answerProgress: TimeAmount = .seconds(60)
        /// The time from the server's last byte until the client closes; what it sends meanwhile is discarded.
        public var lingering: TimeAmount = .seconds(5)

        public init() {}
    }
}

extension ConnectionGuard: NIOScheduledCallbackHandler {
    public func handlerAdded(context: ChannelHandlerContext) { prepare(context) }

    public func channelActive(context: ChannelHandlerContext) {
        start(context)
        context.fireChannelActive()
    }

    public func handlerRemoved(context: ChannelHandlerContext) {
        timer?.task.cancel()
        timer = nil
        self.context = nil
        end()
    }

    private var deadline: NIODeadline {
        let blocked = blockedSince.map { $0 + answerProgress } ?? .distantFuture
        switch phase {
        // The client waits for the server.
        case .head where exchange?.isAnswered == false || awaitsTurn: return blocked
        case .head(begun: true): return min(since + limits.header, blocked)
        case .head(begun: false): return min(since + limits.keepAlive, blocked)
        case .body where isInTheWay:
            let whole = headEnd + min(limits.request, .seconds(30))
            return isReadPending ? min(since + min(limits.bodyProgress, MemoryBudget.patience), whole) : whole
        case .body where isReadPending: return min(since + limits.bodyProgress, headEnd + limits.request, blocked)
        case .body: return min(headEnd + limits.request, blocked)
        case .discarding: return since + answerProgress
        case .lingering: return since + limits.lingering
        }
    }

    /// The time for reading an answer. It is shorter while others wait for the memory that unsent answers take.
    private var answerProgress: TimeAmount {
        memory?.answers.isShort == true ? min(limits.answerProgress, MemoryBudget.patience) : limits.answerProgress
    }

    /// Makes sure that the timer fires no later than the deadline. A deadline that has moved away is noticed when the
    /// timer fires, so that requests and chunks need not reschedule it.
    func setTimer(_ context: ChannelHandlerContext) {
        var deadline = deadline
        // Other requests may run short of memory at any time.
        if memory != nil, blockedSince != nil || isHoldingBody {
            deadline = min(deadline, context.eventLoop.now + MemoryBudget.patience)
        }
        guard deadline < timer?.at ?? .distantFuture else { return }
        timer?.task.cancel()
        timer = (try? context.eventLoop.assumeIsolated().scheduleCallback(at: deadline, handler: self))
            .map { ($0, deadline) }
    }

    /// Returns the number of bytes that the client has not taken yet.
    func unsent(_ context: ChannelHandlerContext) -> Int {
        (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }

    public func handleScheduledCallback(eventLoop: some EventLoop) {
        let due = timer?.at ?? .distantFuture
        timer = nil
        guard let context else { return }
        // A client that is slow but makes progress gets more time.
        if blockedSince != nil {
            let left = unsent(context)
            if left < unsentBytes { blockedSince = eventLoop.now }
            unsentBytes = left
        }
        let deadline = deadline
        if eventLoop.now < deadline { return setTimer(context) }
        // An event loop that was busy for so long has not read what the client has sent in time: it reads before the
        // deadline is applied.
        if eventLoop.now - Self.lag > due, excused != deadline {
            excused = deadline
            let later = eventLoop.now + Self.lag
            timer = (try? eventLoop.assumeIsolated().scheduleCallback(at: later, handler: self)).map { ($0, later) }
        } else {
            context.close(promise: nil)
        }
    }

    /// A callback that comes later than this shows that the event loop was busy.
    private static let lag = TimeAmount.milliseconds(100)
}
