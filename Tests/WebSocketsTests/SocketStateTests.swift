import Testbed
import Testing

@testable import WebSockets

/// The state of a socket, driven by random events without a channel, beside a model of it.
@Suite(.timeLimit(.minutes(30))) struct SocketStateTests {
    private final class Log {
        var actions: [Int] = []
    }

    /// The state and its model, which keeps flags of the events so far.
    private struct Pair {
        var random: SeededGenerator
        var state = SocketState()
        let log = Log()
        var hasSentClose = false
        var hasReceivedClose = false
        var hasEnded = false
        /// The actions that wait, and those that have run.
        var waiting: [Int] = []
        var run: [Int] = []
        var number = 0

        var isOpen: Bool { !hasSentClose && !hasReceivedClose && !hasEnded }

        /// Makes one of the events that can happen now.
        mutating func step() {
            var events: [(inout Pair) -> Void] = [{ $0.sendAll() }]
            if Int.random(in: 0..<8, using: &random) == 0 {
                events += [{ $0.close() }, { $0.receive(isClose: true) }, { $0.end() }]
            }
            events += [{ $0.receive(isClose: false) }]
            if isOpen { events += [{ $0.wait() }, { $0.wait() }] }
            events.randomElement(using: &random)?(&self)
            #expect(state.isOpen == isOpen)
            #expect(log.actions == run)
        }

        mutating func receive(isClose: Bool) {
            let reception = state.receive(isClose: isClose)
            if isOpen {
                #expect(reception == .handle)
                guard isClose else { return }
                state.answerClose()
                (hasReceivedClose, waiting) = (true, [])
            } else {
                // The two close frames have met.
                #expect(reception == (isClose && !hasEnded ? .close : .ignore))
            }
        }

        mutating func close() {
            let sends = state.close()
            #expect(sends == isOpen)
            if sends { (hasSentClose, waiting) = (true, []) }
        }

        mutating func wait() {
            number += 1
            state.wait { [log, number] in log.actions.append(number) }
            waiting.append(number)
        }

        mutating func sendAll() {
            switch state.sentAll() {
            case .run(let actions):
                #expect(!hasReceivedClose || hasEnded)
                for action in actions { action() }
                run += waiting
                waiting = []
            case .close: #expect(hasReceivedClose && !hasEnded)
            }
        }

        mutating func end() {
            let isFirst = state.end()
            #expect(isFirst == !hasEnded)
            (hasEnded, waiting) = (true, [])
        }
    }

    @Test(arguments: 1...300 as ClosedRange<UInt64>)
    func randomEventsDoWhatTheModelDoes(seed: UInt64) {
        var pair = Pair(random: SeededGenerator(seed: seed))
        for _ in 0..<100 { pair.step() }
    }

    /// No read is made after one with many frames until the socket has its turn.
    @Test(arguments: 1...200 as ClosedRange<UInt64>)
    func readsWaitForTheTurnAfterManyFrames(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var reads = SocketReads()
        var (frames, waits, isWithheld) = (0, false, false)
        for _ in 0..<100 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                let isMade = reads.want()
                #expect(isMade == !waits)
                if waits { isWithheld = true }
            case 1 where waits:
                let turn = reads.takeTurn()
                #expect(turn == (frames, isWithheld))
                (frames, waits, isWithheld) = (0, false, false)
            default:
                let count = Int.random(in: 0...20, using: &random)
                for _ in 0..<count { reads.receiveFrame() }
                frames += count
                let asks = reads.complete()
                #expect(asks == (!waits && frames > 8))
                if asks { waits = true }
                if !waits { frames = 0 }
            }
        }
    }

    /// What cannot be is an error of the handler, and ends the process.
    @Test func anInvalidCallEndsTheProcess() async {
        await #expect(processExitsWith: .failure) {
            var state = SocketState()
            if state.close() { state.answerClose() }
        }
        await #expect(processExitsWith: .failure) {
            var reads = SocketReads()
            _ = reads.takeTurn()
        }
    }
}
