import Foundation
import NIOCore
import NIOEmbedded
import NIOPosix
import Testing

@testable import EventLoops

/// Work that notes its turns.
private final class Work: LoopTurn {
    private let turn: (Work) -> Int
    private(set) var turns = 0

    /// - Parameter turn: Returns how much was done.
    init(_ turn: @escaping (Work) -> Int) { self.turn = turn }

    func takeTurn() -> Int {
        turns += 1
        return turn(self)
    }
}

/// Work of a loop has its turn one after the other, and the loop looks for input in between: here on a virtual clock.
@Suite(.timeLimit(.minutes(30)))
struct LoopQueueTests {
    private let loop = EmbeddedEventLoop()
    private let queue: LoopQueue

    init() { queue = LoopQueue.current(of: loop) }

    /// Returns work that never ends.
    private func endless(units: Int = 1) -> Work {
        Work { [queue] in
            queue.add($0)
            return units
        }
    }

    /// Goes on when the loop has looked for input.
    private func look() { loop.advanceTime(by: .microseconds(20)) }

    @Test func allThatWaitsHasOneTurnAfterTheOther() {
        nonisolated(unsafe) var order: [Int] = []
        for number in 0..<3 {
            queue.add(
                Work { [queue] work in
                    order.append(number)
                    if order.count < 10 { queue.add(work) }
                    return 1
                })
        }
        loop.run()
        #expect(order == [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2])
    }

    /// The loop does its other work after a slice.
    @Test func otherTasksRunBetweenSlices() {
        let work = endless()
        queue.add(work)
        nonisolated(unsafe) var before: Int?
        loop.execute { before = work.turns }
        loop.run()
        #expect(before == LoopQueue.slice)
    }

    /// Work that brings more work does not keep the loop from its input.
    @Test(arguments: [1, 8, 100]) func theLoopLooksForInputBetweenTurns(units: Int) {
        let works = (0..<3).map { _ in endless(units: units) }
        for work in works { queue.add(work) }
        loop.run()
        var before = 0
        for _ in 0..<5 {
            let turns = works.map(\.turns)
            #expect((turns.max() ?? 0) - (turns.min() ?? 0) <= 1)
            // A turn that has begun is ended.
            #expect(turns.reduce(0, +) - before == (LoopQueue.share + units - 1) / units)
            before = turns.reduce(0, +)
            look()
            loop.run()
        }
    }

    /// Work that is added by another task of the same tick is no way around that.
    @Test func workThatComesBackInTheSameTickCounts() {
        let loop = loop
        let work = Work { [queue] work in
            nonisolated(unsafe) let work = work
            let queue = NIOLoopBound(queue, eventLoop: loop)
            loop.execute { queue.value.add(work) }
            return 1
        }
        queue.add(work)
        loop.run()
        #expect(0 < work.turns && work.turns <= LoopQueue.share)
        let before = work.turns
        look()
        loop.run()
        #expect(work.turns > before)
    }

    /// A loop that receives input has looked for it, and need not be asked to.
    @Test func inputBeginsTheCountAnew() {
        let work = Work { _ in LoopQueue.share - 1 }
        for turn in 1...5 {
            queue.noteInput()
            queue.add(work)
            loop.run()
            #expect(work.turns == turn)
        }
        queue.add(work)
        loop.run()
        #expect(work.turns == 5)
        look()
        #expect(work.turns == 6)
    }

    @Test func whatIsToRunBeforeALookRunsOnceForEach() {
        nonisolated(unsafe) var looks = 0
        queue.beforeLooks { looks += 1 }
        queue.add(endless())
        loop.run()
        #expect(looks == 1)
        look()
        loop.run()
        #expect(looks == 2)
    }
}

/// A real event loop.
@Suite(.timeLimit(.minutes(30)))
struct InputLookTests {
    /// An event loop of a server finds its input beside work that never ends.
    @Test func inputIsFoundBesideEndlessWork() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        try await loop.flatSubmit { () -> EventLoopFuture<Void> in
            let queue = LoopQueue.current(of: loop)
            let found = loop.makePromise(of: Void.self)
            nonisolated(unsafe) var (input, isFound, isAsked): (InputLook?, Bool, Bool) = (nil, false, false)
            input = InputLook(on: loop) {
                isFound = true
                found.succeed()
            }
            queue.add(
                Work { work in
                    if !isAsked { isAsked = input?.request() == true }
                    if !isFound { queue.add(work) }
                    return 1
                })
            return found.futureResult
        }.get()
        try await group.shutdownGracefully()
    }

    /// An event loop of a server handles the input that waits, however long its other tasks last.
    @Test func aLookComesAfterInputThatWaits() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let seen = try await group.next().flatSubmit { () -> EventLoopFuture<[String]> in
            let loop = group.next()
            let done = loop.makePromise(of: [String].self)
            nonisolated(unsafe) var seen: [String] = []
            nonisolated(unsafe) var looks = 0
            nonisolated(unsafe) var (first, second): (InputLook?, InputLook?)
            second = InputLook(on: loop) { seen.append("input") }
            first = InputLook(on: loop) {
                looks += 1
                seen.append("look")
                guard looks == 2 else { return again() }
                done.succeed(seen)
            }
            func again() {
                loop.execute {
                    seen.append("task")
                    #expect(second?.request() == true)
                    #expect(first?.request() == true)
                    // A task that lasts does not come between.
                    loop.execute {
                        usleep(2000)
                        seen.append("long task")
                    }
                }
            }
            again()
            return done.futureResult
        }.get()
        #expect(seen == ["task", "long task", "input", "look", "task", "long task", "input", "look"])
        try await group.shutdownGracefully()
    }
}
