import HTTPTypes
import NIOCore

/// The state of a connection on which HTTP/1 requests are handled one at a time.
///
/// It is a value that knows no channel, parser or timer: ``ConnectionGuard`` tells it what happens, and does what the functions
/// return. A call that the state does not allow is an error of the guard, and ends the process.
struct ConnectionState {
    enum State {
        /// No request is with the server. `begun` is true once the first byte of the next one has arrived, as which the
        /// opening of the connection counts.
        ///
        /// Valid transitions: `idle(begun: true)`, `deciding`, `receiving`, `discarding`.
        case idle(begun: Bool)
        /// The beginning of a further request is here, and waits for the connection's turn.
        ///
        /// Valid transitions: `idle`, `discarding`.
        case queued
        /// The server considers the request's offer to change to another protocol.
        ///
        /// Valid transitions: `answering`, `discarding`.
        case deciding(Exchange)
        /// The server has the request's head, and its body is arriving.
        ///
        /// Valid transitions: `answering`, `draining`, `discarding`.
        case receiving(Exchange)
        /// The answer has been handed to the network before the whole body has arrived. The rest is dropped.
        ///
        /// Valid transitions: `idle`, `queued`, `discarding`.
        case draining
        /// The whole request has been received, and its answer has not been handed to the network.
        ///
        /// Valid transitions: `idle`, `queued`, `discarding`.
        case answering(Exchange)
        /// The last answer is being written, and input is discarded.
        ///
        /// Valid transitions: `lingering`.
        case discarding
        /// The last answer has been written, and the output is closed. Input is discarded until the client closes, too.
        case lingering
    }

    /// What happens after an answer, or after the end of a request that was answered before.
    enum Continuation: Equatable {
        /// The next bytes from the client are awaited.
        case awaitInput
        /// The next request, which has been received already, waits for the connection's turn.
        case awaitTurn
        case close
        /// The connection is ending already.
        case none
    }

    private(set) var state = State.idle(begun: true)
    /// The time at which the state began that a deadline limits: the idleness, the head, what follows an answer.
    private var phaseStart: NIODeadline
    /// The time at which the wait for the client's next piece of a body began.
    private var clientWaitStart: NIODeadline
    /// The end of the request's head.
    private var headEnd: NIODeadline
    /// Whether the channel has been asked to read, and has not done so yet.
    private(set) var isReadPending = false
    private var isReadWithheld = false
    /// Whether the client sends nothing more.
    private(set) var isInputOver = false
    /// Whether the server is stopping: the answer to the request that it handles is the last.
    private var isQuiescing = false
    /// The output that the client has not taken, and since when it has taken none of it; nil while none waits.
    private var unsent: (bytes: Int, since: NIODeadline)?

    init(at now: NIODeadline) { (phaseStart, clientWaitStart, headEnd) = (now, now, now) }

    // MARK: What the state says

    /// The request that is with the server, until its answer has been handed to the network.
    var exchange: Exchange? {
        switch state {
        case .deciding(let exchange), .receiving(let exchange), .answering(let exchange): exchange
        case .idle, .queued, .draining, .discarding, .lingering: nil
        }
    }

    /// Whether input is parsed and not discarded.
    var takesInput: Bool {
        switch state {
        case .idle, .queued, .deciding, .receiving, .draining, .answering: true
        case .discarding, .lingering: false
        }
    }

    /// Whether the next part of a request is wanted. Those of a further request wait until the one before is answered, and until
    /// it is the connection's turn.
    var isExpecting: Bool {
        switch state {
        case .idle, .receiving, .draining: true
        case .queued, .deciding, .answering, .discarding, .lingering: false
        }
    }

    /// Whether a request's body has begun and not ended.
    var isAmidRequest: Bool {
        switch state {
        case .receiving, .draining: true
        case .idle, .queued, .deciding, .answering, .discarding, .lingering: false
        }
    }

    /// Whether output waits for the client.
    var isBlocked: Bool { unsent != nil }
    /// Whether an answer may be written.
    var takesAnswer: Bool { exchange?.isAnswered == false }
    /// Whether the received part of a body takes memory.
    var isHoldingBody: Bool { exchange?.isHeld == true }

    /// Returns whether the channel may read.
    ///
    /// - Parameter hasBytes: Whether bytes wait that have been read and not parsed.
    func mayRead(hasBytes: Bool) -> Bool {
        switch state {
        case .idle, .draining, .discarding, .lingering: true
        case .queued: false
        case .deciding, .answering: !hasBytes
        case .receiving(let exchange): exchange.isAnswered || exchange.credit > 0
        }
    }

    // MARK: Requests

    /// Notes that a part of a request has arrived that is not a whole one.
    ///
    /// - Returns: Whether it is the first of the request.
    mutating func receivedFirstByte(at now: NIODeadline) -> Bool {
        guard case .idle(begun: false) = state else { return false }
        state = .idle(begun: true)
        phaseStart = now
        return true
    }

    /// Begins a request with its head.
    mutating func begin(_ exchange: Exchange, at now: NIODeadline) {
        requireIdle()
        state = .receiving(exchange)
        (phaseStart, clientWaitStart, headEnd) = (now, now, now)
    }

    /// Begins to consider the offer of a request without a body.
    mutating func beginDecision(on exchange: Exchange) {
        requireIdle()
        state = .deciding(exchange)
    }

    /// Refuses the offer: the request gets an answer.
    mutating func endDecision() {
        guard case .deciding(let exchange) = state else { preconditionFailure("Invalid state: \(state)") }
        state = .answering(exchange)
    }

    /// Receives a piece of the body.
    ///
    /// - Returns: Whether it is passed on. Nothing reads the rest of a body behind the whole answer, and it must not gather in
    ///   memory.
    mutating func receiveBody(_ count: Int) -> Bool {
        switch state {
        case .receiving(var exchange):
            exchange.awaitsContinue = false
            if exchange.credit != .max { exchange.credit -= count }
            state = .receiving(exchange)
            return !exchange.isAnswered
        case .draining:
            return false
        case .idle, .queued, .deciding, .answering, .discarding, .lingering:
            preconditionFailure("Invalid state: \(state)")
        }
    }

    /// Ends the request, whose answer may have been handed to the network before.
    mutating func receiveEnd(hasBytes: Bool, at now: NIODeadline) -> Continuation {
        phaseStart = now
        switch state {
        case .receiving(var exchange):
            exchange.awaitsContinue = false
            state = .answering(exchange)
            return .none
        case .draining:
            return next(hasBytes: hasBytes)
        case .idle, .queued, .deciding, .answering, .discarding, .lingering:
            preconditionFailure("Invalid state: \(state)")
        }
    }

    /// Goes on with a further request, since it is the connection's turn. A connection that has begun to end while it waited
    /// has no further request.
    mutating func takeTurn() {
        if case .queued = state { state = .idle(begun: false) }
    }

    private func requireIdle() {
        guard case .idle = state else { preconditionFailure("Invalid state: \(state)") }
    }

    // MARK: Reading

    /// Asks for a read of the channel.
    ///
    /// - Returns: Whether it is made now; otherwise it is withheld until ``releaseRead(hasBytes:)``.
    mutating func read(hasBytes: Bool, at now: NIODeadline) -> Bool {
        isReadWithheld = !mayRead(hasBytes: hasBytes)
        guard !isReadWithheld else { return false }
        if !isReadPending, isAmidRequest { clientWaitStart = now }
        isReadPending = true
        return true
    }

    mutating func readCompleted() { isReadPending = false }

    /// Returns whether a withheld read is to be made now.
    mutating func releaseRead(hasBytes: Bool) -> Bool {
        guard isReadWithheld, mayRead(hasBytes: hasBytes) else { return false }
        isReadWithheld = false
        return true
    }

    /// Wants more of the body.
    ///
    /// - Parameter isHeld: Whether what was read stays in memory.
    /// - Returns: Whether the client is to receive a 100; nil when there is no body to read.
    mutating func demand(isHeld: Bool) -> Bool? {
        guard case .receiving(var exchange) = state, !exchange.isAnswered else { return nil }
        exchange.credit = Exchange.credit
        exchange.isHeld = isHeld
        let continues = exchange.awaitsContinue && !exchange.hasAnswerBegun
        if continues { exchange.awaitsContinue = false }
        state = .receiving(exchange)
        return continues
    }

    // MARK: Answers

    /// Begins the answer.
    ///
    /// - Parameter closes: Whether the answer's own fields say that it is the last.
    /// - Returns: Whether it is the last.
    mutating func beginAnswer(closes: Bool) -> Bool {
        // A client that was not told to continue may or may not send its body, so the beginning of its next request is
        // unknown.
        change { exchange in
            exchange.hasAnswerBegun = true
            exchange.isClosing = closes || exchange.isLast || exchange.awaitsContinue
        }
        if isQuiescing { change { $0.isClosing = true } }
        return exchange?.isClosing == true
    }

    /// Ends the answer.
    ///
    /// - Returns: Whether it is the last.
    mutating func endAnswer(at now: NIODeadline) -> Bool {
        change { $0.isAnswered = true }
        if case .answering = state { phaseStart = now }
        return exchange?.isClosing == true
    }

    /// Notes that the whole answer has been handed to the network.
    mutating func answerWasWritten(hasBytes: Bool) -> Continuation {
        switch state {
        case .receiving(let exchange) where exchange.isAnswered:
            state = .draining
            return isQuiescing ? .close : .none
        case .answering(let exchange) where exchange.isAnswered:
            return next(hasBytes: hasBytes)
        case .discarding, .lingering:
            return isQuiescing || isInputOver ? .close : .none
        case .idle, .queued, .deciding, .receiving, .draining, .answering:
            preconditionFailure("Invalid state: \(state)")
        }
    }

    private mutating func next(hasBytes: Bool) -> Continuation {
        state = hasBytes ? .queued : .idle(begun: false)
        if isQuiescing { return .close }
        return hasBytes ? .awaitTurn : isInputOver ? .close : .awaitInput
    }

    private mutating func change(_ body: (inout Exchange) -> Void) {
        switch state {
        case .receiving(var exchange):
            body(&exchange)
            state = .receiving(exchange)
        case .answering(var exchange):
            body(&exchange)
            state = .answering(exchange)
        case .idle, .queued, .deciding, .draining, .discarding, .lingering:
            preconditionFailure("Invalid state: \(state)")
        }
    }

    // MARK: The end

    /// Begins the end behind the last answer.
    ///
    /// - Returns: Whether the connection closes as soon as the answer has been sent: there is nothing to wait for.
    mutating func finish(at now: NIODeadline) -> Bool {
        guard takesInput else { preconditionFailure("Invalid state: \(state)") }
        state = .discarding
        phaseStart = now
        return isInputOver || isQuiescing
    }

    /// Notes that the output is closed.
    ///
    /// - Returns: Whether the connection is to be closed. Otherwise it waits for the client.
    mutating func outputClosed(at now: NIODeadline) -> Bool {
        guard case .discarding = state else { return true }
        state = .lingering
        phaseStart = now
        return isQuiescing || isInputOver
    }

    /// Notes that the client sends nothing more.
    ///
    /// - Returns: Whether the connection is to be closed at once.
    mutating func inputClosed() -> Bool {
        isInputOver = true
        // The last answer may not have been sent yet.
        if case .lingering = state { return true }
        return false
    }

    /// Returns whether the client has sent all that it wanted to, and has all answers.
    func isOver(hasBytes: Bool) -> Bool {
        guard isInputOver, !hasBytes else { return false }
        return switch state {
        case .idle: true
        case .queued, .deciding, .receiving, .draining, .answering, .discarding, .lingering: false
        }
    }

    /// Lets the server stop.
    ///
    /// - Returns: Whether the connection is to be closed at once. Otherwise the answer that is being made is the last.
    mutating func quiesce() -> Bool {
        isQuiescing = true
        return switch state {
        case .idle, .queued, .deciding, .draining, .lingering: true
        case .receiving, .answering, .discarding: false
        }
    }

    // MARK: Time

    /// Notes how much output waits for the client, which begins its time anew.
    ///
    /// - Parameter bytes: The bytes that the network has not taken; nil when the channel takes more, and nothing is waited for.
    mutating func noteUnsent(_ bytes: Int?, at now: NIODeadline) { unsent = bytes.map { ($0, now) } }

    /// Gives a client that is slow and makes progress more time.
    mutating func noteProgress(_ bytes: Int, at now: NIODeadline) {
        guard let before = unsent else { return }
        unsent = (bytes, bytes < before.bytes ? now : before.since)
    }

    /// Returns the time at which the connection is closed unless something happens before.
    ///
    /// - Parameters:
    ///   - bodiesAreShort: Whether other requests wait for memory that bodies take.
    ///   - answersAreShort: Whether other answers wait for memory that unsent ones take.
    func deadline(
        _ limits: ConnectionGuard.Limits, bodiesAreShort: @autoclosure () -> Bool,
        answersAreShort: @autoclosure () -> Bool
    ) -> NIODeadline {
        func progress() -> TimeAmount {
            answersAreShort() ? min(limits.answerProgress, MemoryBudget.patience) : limits.answerProgress
        }
        let blocked = unsent.map { $0.since + progress() } ?? .distantFuture
        switch state {
        case .idle(begun: true): return min(phaseStart + limits.header, blocked)
        case .idle(begun: false): return min(phaseStart + limits.keepAlive, blocked)
        // The client waits for the server.
        case .queued, .deciding: return blocked
        case .answering(let exchange):
            return exchange.isAnswered ? min(phaseStart + limits.keepAlive, blocked) : blocked
        case .receiving(let exchange) where exchange.isHeld && bodiesAreShort():
            let whole = headEnd + min(limits.request, .seconds(30))
            return isReadPending ? min(clientWaitStart + min(limits.bodyProgress, MemoryBudget.patience), whole) : whole
        case .receiving, .draining:
            let whole = min(headEnd + limits.request, blocked)
            return isReadPending ? min(clientWaitStart + limits.bodyProgress, whole) : whole
        case .discarding: return phaseStart + progress()
        case .lingering: return phaseStart + limits.lingering
        }
    }
}
