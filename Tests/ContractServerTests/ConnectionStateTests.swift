import HTTPTypes
import NIOCore
import Testbed
import Testing

@testable import ContractServer

/// Compares what a call that changes a value returns.
private func same<Value: Equatable>(_ value: Value, _ expected: Value, line: SourceLocation = #_sourceLocation) {
    #expect(value == expected, sourceLocation: line)
}

/// The state of a connection, driven by random events without a channel, beside a model of it.
@Suite(.timeLimit(.minutes(30))) struct ConnectionStateTests {
    private typealias Exchange = ConnectionState.Exchange

    private static func exchange(
        large: Bool = false, last: Bool = false, awaitsContinue: Bool = false
    ) -> Exchange {
        Exchange(
            RequestHead(
                method: .post, target: "/", authority: nil, fields: [:], body: .length(large ? 1_000_000 : 10),
                isOld: false,
                isLast: last, awaitsContinue: awaitsContinue, offersUpgrade: false), isDemanded: true)
    }

    /// The model keeps flags of the events so far.
    private struct Model {
        enum Request { case none, deciding, arriving, whole }
        enum Answer { case none, begun, whole, written }

        var request = Request.none
        var answer = Answer.none
        var isLast = false
        /// The bytes of the body that may come in; nil for any number.
        var credit: Int?
        var hasBytes = false
        var awaitsTurn = false
        var isEnding = false
        var isOutputClosed = false
        var isInputOver = false
        var isQuiescing = false
        var isClosed = false

        var isBusy: Bool { request != .none && answer != .written }

        mutating func settle() {
            guard !isEnding, request == .whole, answer == .written else { return }
            (request, answer) = (.none, .none)
            if isQuiescing || (isInputOver && !hasBytes) { isClosed = true }
            awaitsTurn = hasBytes
        }
    }

    /// The state and its model, which take the same events.
    private struct Pair {
        var random: SeededGenerator
        var state = ConnectionState(at: .uptimeNanoseconds(0))
        var model = Model()
        var now = NIODeadline.uptimeNanoseconds(0)
        var requests = 0
        var answers = 0

        /// Makes one of the events that can happen now.
        mutating func step() {
            now = now + .milliseconds(Int64.random(in: 0...20, using: &random))
            model.hasBytes = Bool.random(using: &random)
            var events: [(inout Pair) -> Void] = [{ $0.closeInput() }, { $0.read() }]
            if Int.random(in: 0..<20, using: &random) == 0 { events.append { $0.quiesce() } }
            if Int.random(in: 0..<20, using: &random) == 0, state.takesInput { events.append { $0.finish() } }
            if state.isExpecting { events += [{ $0.receive() }, { $0.receive() }] }
            if state.isQueued { events.append { $0.takeTurn() } }
            if state.isDeciding { events.append { $0.refuseOffer() } }
            if state.takesAnswer, !state.isDeciding { events += [{ $0.answer() }, { $0.answer() }] }
            if model.answer == .whole { events.append { $0.answerWasWritten() } }
            if model.isEnding, !model.isOutputClosed { events.append { $0.closeOutput() } }
            events.randomElement(using: &random)?(&self)
        }

        mutating func receive() {
            switch model.request {
            case .none:
                requests += 1
                model.isLast = Int.random(in: 0..<10, using: &random) == 0
                if Int.random(in: 0..<5, using: &random) == 0 {
                    state.beginDecision(on: exchange(last: model.isLast))
                    model.request = .deciding
                } else {
                    let isLarge = Bool.random(using: &random)
                    state.begin(exchange(large: isLarge, last: model.isLast), at: now)
                    (model.request, model.credit) = (.arriving, isLarge ? 0 : nil)
                }
            case .arriving where Bool.random(using: &random):
                if model.credit == 0, Bool.random(using: &random) {
                    let isWanted = state.demand(isHeld: true) != nil
                    #expect(isWanted == (model.answer == .none || model.answer == .begun))
                    if isWanted { model.credit = Exchange.credit }
                }
                let count = Int.random(in: 1...1000, using: &random)
                let isPassedOn = state.receiveBody(count)
                #expect(isPassedOn == (model.answer == .none || model.answer == .begun))
                if let credit = model.credit { model.credit = credit - count }
            case .arriving:
                model.request = .whole
                let expected = model.answer == .written
                let continuation = state.receiveEnd(hasBytes: model.hasBytes, at: now)
                model.settle()
                expect(continuation, isOver: expected)
            case .deciding, .whole: Issue.record("a part of a request is wanted during another")
            }
        }

        func exchange(large: Bool = false, last: Bool) -> Exchange {
            ConnectionStateTests.exchange(large: large, last: last)
        }

        mutating func refuseOffer() {
            state.endDecision()
            model.request = .whole
        }

        mutating func answer() {
            if model.answer == .none {
                model.answer = .begun
                same(state.beginAnswer(closes: false), model.isLast || model.isQuiescing)
            } else {
                model.answer = .whole
                let isLast = state.endAnswer(at: now)
                if isLast { finish() }
            }
        }

        mutating func answerWasWritten() {
            model.answer = .written
            answers += 1
            let (isOver, isEnding) = (model.request == .whole, model.isEnding)
            let continuation = state.answerWasWritten(hasBytes: model.hasBytes)
            if isEnding {
                #expect(continuation == (model.isQuiescing || model.isInputOver ? .close : .none))
                if continuation == .close { model.isClosed = true }
            } else {
                if model.isQuiescing { model.isClosed = true }
                model.settle()
                expect(continuation, isOver: isOver)
            }
        }

        func expect(_ continuation: ConnectionState.Continuation, isOver: Bool) {
            let expected: ConnectionState.Continuation =
                model.isClosed ? .close : !isOver ? .none : model.awaitsTurn ? .awaitTurn : .awaitInput
            #expect(continuation == expected)
        }

        mutating func takeTurn() {
            state.takeTurn()
            model.awaitsTurn = false
        }

        mutating func read() {
            if state.read(hasBytes: model.hasBytes, at: now) { state.readCompleted() }
        }

        mutating func closeInput() {
            model.isInputOver = true
            if state.inputClosed() {
                #expect(model.isOutputClosed)
                model.isClosed = true
            }
            if state.isOver(hasBytes: model.hasBytes) {
                #expect(!model.isBusy && !model.awaitsTurn && !model.hasBytes)
                model.isClosed = true
            }
        }

        mutating func quiesce() {
            model.isQuiescing = true
            let closes = state.quiesce()
            let isWaitedFor = model.isEnding ? !model.isOutputClosed : model.isBusy && model.request != .deciding
            #expect(closes == !isWaitedFor)
            if closes { model.isClosed = true }
        }

        mutating func finish() {
            same(state.finish(at: now), model.isInputOver || model.isQuiescing)
            model.isEnding = true
            model.awaitsTurn = false
            if model.answer != .whole { model.answer = .none }
        }

        mutating func closeOutput() {
            same(state.outputClosed(at: now), model.isInputOver || model.isQuiescing)
            model.isOutputClosed = true
        }

        /// Compares what the state says with the model.
        func check() {
            #expect(state.takesInput == !model.isEnding)
            guard !model.isEnding else {
                #expect(!state.isExpecting && state.exchange == nil && state.mayRead(hasBytes: model.hasBytes))
                return
            }
            #expect(state.isExpecting == (model.request == .arriving || (model.request == .none && !model.awaitsTurn)))
            #expect((state.exchange != nil) == model.isBusy)
            #expect(state.isQueued == model.awaitsTurn)
            #expect(state.isAmidRequest == (model.request == .arriving))
            let mayRead =
                switch model.request {
                case .none: !model.awaitsTurn
                case .arriving: model.answer == .whole || model.answer == .written || (model.credit ?? 1) > 0
                case .deciding, .whole: !model.hasBytes
                }
            #expect(state.mayRead(hasBytes: model.hasBytes) == mayRead)
            // A client that waits for the server has no deadline; the server waits for every other client.
            let deadline = state.deadline(.init(), bodiesAreShort: false, answersAreShort: false)
            let serverIsAwaited =
                model.awaitsTurn || (model.isBusy && model.request != .arriving && model.answer != .whole)
            #expect((deadline == .distantFuture) == serverIsAwaited)
        }
    }

    @Test(arguments: 1...200)
    func randomEventsDoWhatTheModelDoes(seed: UInt64) {
        var pair = Pair(random: SeededGenerator(seed: seed))
        for _ in 0..<300 where !pair.model.isClosed {
            pair.step()
            if !pair.model.isClosed { pair.check() }
        }
        #expect(pair.answers <= pair.requests)
    }

    /// A deadline counts from what the client was last waited for.
    @Test func deadlinesFollowTheState() {
        var limits = ConnectionGuard.Limits()
        limits.header = .seconds(1)
        limits.keepAlive = .seconds(2)
        limits.bodyProgress = .seconds(3)
        limits.request = .seconds(100)
        limits.answerProgress = .seconds(4)
        limits.lingering = .seconds(5)
        func second(_ number: Int64) -> NIODeadline { .uptimeNanoseconds(UInt64(number) * 1_000_000_000) }
        func deadline(_ state: ConnectionState) -> NIODeadline {
            state.deadline(limits, bodiesAreShort: false, answersAreShort: false)
        }
        var state = ConnectionState(at: second(0))
        #expect(deadline(state) == second(1))
        state.begin(Self.exchange(), at: second(10))
        #expect(deadline(state) == second(110))
        same(state.read(hasBytes: false, at: second(20)), true)
        #expect(deadline(state) == second(23))
        state.readCompleted()
        same(state.receiveBody(10), true)
        same(state.receiveEnd(hasBytes: false, at: second(30)), .none)
        #expect(deadline(state) == .distantFuture)
        same(state.beginAnswer(closes: false), false)
        state.noteUnsent(100, at: second(40))
        #expect(deadline(state) == second(44))
        state.noteProgress(100, at: second(41))
        #expect(deadline(state) == second(44))
        state.noteProgress(99, at: second(42))
        #expect(deadline(state) == second(46))
        state.noteUnsent(nil, at: second(43))
        same(state.endAnswer(at: second(50)), false)
        same(state.answerWasWritten(hasBytes: false), .awaitInput)
        #expect(deadline(state) == second(52))
        same(state.receivedFirstByte(at: second(51)), true)
        #expect(deadline(state) == second(52))
        same(state.finish(at: second(60)), false)
        #expect(deadline(state) == second(64))
        same(state.outputClosed(at: second(61)), false)
        #expect(deadline(state) == second(66))
    }

    /// What cannot be is no state of a client's making, and ends the process.
    @Test func anInvalidCallEndsTheProcess() async {
        await #expect(processExitsWith: .failure) {
            var state = ConnectionState(at: .now())
            _ = state.receiveBody(1)
        }
        await #expect(processExitsWith: .failure) {
            var state = ConnectionState(at: .now())
            _ = state.answerWasWritten(hasBytes: false)
        }
    }
}

extension ConnectionState {
    fileprivate var isDeciding: Bool { if case .deciding = state { true } else { false } }
    fileprivate var isQueued: Bool { if case .queued = state { true } else { false } }
}
