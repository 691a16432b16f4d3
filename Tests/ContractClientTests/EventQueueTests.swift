import ContractClient
import Foundation
import NIOConcurrencyHelpers
import Testing

@Suite(.timeLimit(.minutes(30))) struct EventQueueTests {
    @Test("Delivers added events in order, then the end")
    func order() async throws {
        let queue = EventQueue<Int>()
        for number in 0..<200 { queue.add(number) }
        queue.finish()
        queue.add(200)
        var numbers: [Int] = []
        while let number = try await queue.next() { numbers.append(number) }
        #expect(numbers == Array(0..<200))
    }

    @Test("Throws its final error after the events that were added before")
    func error() async throws {
        let queue = EventQueue<Int>()
        queue.add(1)
        queue.finish(throwing: SignedOut())
        #expect(try await queue.next() == 1)
        await #expect(throws: SignedOut.self) { _ = try await queue.next() }
    }

    @Test("A producer waits for a slow consumer")
    func backpressure() async throws {
        let queue = EventQueue<Int>(limit: 10)
        let added = NIOLockedValueBox(0)
        Task {
            for number in 0..<100 {
                await queue.space()
                queue.add(number)
                added.withLockedValue { $0 += 1 }
            }
            queue.finish()
        }
        for number in 0..<100 {
            #expect(try await queue.next() == number)
            #expect(added.withLockedValue { $0 } <= number + 11)
        }
        #expect(try await queue.next() == nil)
    }

    @Test("Cancellation wakes a waiting task, and is the end")
    func cancellation() async throws {
        let queue = EventQueue<Int>()
        let waiting = Task { try await queue.next() }
        waiting.cancel()
        #expect(try await waiting.value == nil)
        queue.add(1)
        #expect(try await queue.next() == nil)
        await queue.space()
    }
}
