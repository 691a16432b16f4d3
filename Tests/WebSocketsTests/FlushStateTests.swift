import Testbed
import Testing

@testable import WebSockets

/// The state of a queue of sockets, driven by random events without sockets, beside a model of it.
@Suite(.timeLimit(.minutes(30))) struct FlushStateTests {
    private enum Item: Equatable {
        case socket(Int)
        case batch(Int)
    }

    /// The state and its model, which is a list. Sockets, batches and actions have numbers in the order in which they were
    /// added.
    private struct Pair {
        var random: SeededGenerator
        var state = FlushState<Int, Int, Int>()
        var items: [Item] = []
        /// The number of sockets to which a batch has yet to give frames.
        var unserved: [Int: Int] = [:]
        var actions: [Int] = []
        /// Whether a turn has been asked for, and has not ended.
        var hasTurn = false
        var number = 0
        var sent: [Int] = []

        mutating func add() {
            number += 1
            let asks: Bool
            switch Int.random(in: 0..<8, using: &random) {
            case 0..<5:
                asks = state.add(number)
                items.append(.socket(number))
            case 5:
                asks = state.add(batch: number)
                items.append(.batch(number))
                unserved[number] = .random(in: 0...40, using: &random)
            default:
                asks = state.wait(number)
                actions.append(number)
            }
            #expect(asks == !hasTurn)
            hasTurn = true
        }

        mutating func takeActions() {
            let taken = state.takeActions()
            #expect(taken == actions)
            actions = []
        }

        mutating func takeTurn() {
            state.beginTurn()
            var (sockets, count) = (0, items.count)
            while true {
                while Int.random(in: 0..<4, using: &random) == 0 { add() }
                let mayGoOn = sockets < 16 && count > 0
                switch state.next() {
                case .flush(let socket):
                    #expect(mayGoOn && items.first == .socket(socket))
                    items.removeFirst()
                    sent.append(socket)
                    (sockets, count) = (sockets + 1, count - 1)
                case .serve(let batch, let limit):
                    #expect(mayGoOn && items.first == .batch(batch) && limit == 16 - sockets)
                    let served = serve(batch, limit)
                    sockets += max(1, served)
                    guard served < limit else { break }
                    items.removeFirst()
                    count -= 1
                case .pause(let reported):
                    #expect(!mayGoOn && reported == sockets && !items.isEmpty)
                    return
                case .end(let reported, let then):
                    #expect(!mayGoOn && reported == sockets && items.isEmpty && then == actions)
                    (actions, hasTurn) = ([], false)
                    return
                }
            }
        }

        mutating func serve(_ batch: Int, _ limit: Int) -> Int {
            let fresh = (0..<min(limit, unserved[batch] ?? 0)).map { number + 1 + $0 }
            for socket in fresh {
                let asks = state.add(socket)
                #expect(!asks)
            }
            number += fresh.count
            unserved[batch]? -= fresh.count
            let sending = state.served(fresh.count)
            #expect(sending == fresh)
            return fresh.count
        }
    }

    @Test(arguments: 1...300 as ClosedRange<UInt64>)
    func randomEventsDoWhatTheModelDoes(seed: UInt64) {
        var pair = Pair(random: SeededGenerator(seed: seed))
        for _ in 0..<60 {
            switch Int.random(in: 0..<12, using: &pair.random) {
            case 0: pair.takeActions()
            case 1, 2: if pair.hasTurn { pair.takeTurn() }
            default: pair.add()
            }
        }
        while pair.hasTurn { pair.takeTurn() }
        #expect(pair.items.isEmpty && pair.actions.isEmpty)
        #expect(pair.unserved.values.allSatisfy { $0 == 0 })
        // No socket overtakes one that was added before, and each is flushed once.
        #expect(pair.sent == pair.sent.sorted() && Set(pair.sent).count == pair.sent.count)
    }

    /// What cannot be is an error of the queue, and ends the process.
    @Test func anInvalidCallEndsTheProcess() async {
        await #expect(processExitsWith: .failure) {
            var state = FlushState<Int, Int, Int>()
            state.beginTurn()
        }
        await #expect(processExitsWith: .failure) {
            var state = FlushState<Int, Int, Int>()
            if state.add(1) { state.beginTurn() }
            _ = state.served(1)
        }
    }
}
