import Foundation
import NIOConcurrencyHelpers
import Testing

@testable import Identity

/// The queue serves addresses fairly, and drops jobs of the busiest address when it is full.
@Suite(.timeLimit(.minutes(30))) struct HashingQueueTests {
    private func job(_ id: UInt64, _ address: String?, isKnown: Bool = false) -> HashingQueue.Job {
        .init(id: id, client: .init(address: address, isKnown: isKnown)) { _ in }
    }

    /// A queue whose jobs are numbers.
    private final class Line {
        private var queue: HashingQueue

        init(threads: Int, limit: Int) { queue = HashingQueue(threads: threads, limit: limit) }

        func add(_ job: HashingQueue.Job) -> HashingQueue.Job? { queue.add(job) }
        func remove(_ id: UInt64, of client: Passwords.Client) -> HashingQueue.Job? { queue.remove(id, of: client) }

        func drain() -> [UInt64] {
            var ids: [UInt64] = []
            while let job = queue.next() { ids.append(job.id) }
            return ids
        }
    }

    @Test func addressesTakeTurnsAndKnownOnesComeFirst() {
        let queue = Line(threads: 1, limit: 100)
        for id in 1...5 { #expect(queue.add(job(UInt64(id), "flood"))?.id == nil) }
        #expect(queue.add(job(6, "other"))?.id == nil)
        #expect(queue.add(job(7, nil))?.id == nil)
        #expect(queue.add(job(8, "known", isKnown: true))?.id == nil)
        #expect(queue.add(job(9, "known", isKnown: true))?.id == nil)
        #expect(queue.add(job(10, "flood", isKnown: true))?.id == nil)
        #expect(queue.drain() == [8, 10, 9, 1, 6, 7, 2, 3, 4, 5])
    }

    @Test func anAddressHasAQuarterOfThePlaces() {
        let queue = Line(threads: 1, limit: 8)
        #expect((1...5).map { queue.add(job(UInt64($0), "flood"))?.id } == [nil, nil, 3, 4, 5])
        // The other class has the same limit of its own.
        #expect((6...8).map { queue.add(job(UInt64($0), "flood", isKnown: true))?.id } == [nil, nil, 8])
    }

    @Test func aFullQueueMakesRoomForAnAddressWithFewerJobs() {
        let queue = Line(threads: 1, limit: 11)
        // Each address has two places.
        for (id, address) in [(1, "a"), (2, "a"), (3, "b"), (4, "b"), (5, "c"), (6, "c"), (7, "d"), (8, "d")] {
            #expect(queue.add(job(UInt64(id), address))?.id == nil)
        }
        for id in 9...12 { #expect(queue.add(job(UInt64(id), "e\(id)"))?.id == nil) }
        let dropped = queue.add(job(13, "newcomer"))
        #expect(dropped.map { [2, 4, 6, 8].contains($0.id) } == true)
        // An address that has as many places as the others is refused.
        #expect(queue.add(job(14, "newcomer"))?.id == 14)
        #expect(queue.add(job(15, "known", isKnown: true))?.id == nil)
        #expect(queue.drain().count == 13)
    }

    @Test func removedJobsLeaveNoTurnBehind() {
        let queue = Line(threads: 1, limit: 8)
        for (id, address) in [(1, "a"), (2, "b"), (3, "b")] { #expect(queue.add(job(UInt64(id), address))?.id == nil) }
        #expect(queue.remove(1, of: .init(address: "a"))?.id == 1)
        #expect(queue.remove(1, of: .init(address: "a"))?.id == nil)
        #expect(queue.remove(2, of: .init(address: "b"))?.id == 2)
        #expect(queue.drain() == [3])
        #expect(queue.remove(3, of: .init(address: "b"))?.id == nil)
    }

    /// An address with a flood of slow hashes delays another address by one hash at most.
    @Test(.timeLimit(.minutes(30))) func anotherAddressIsNext() async throws {
        let gate = DispatchSemaphore(value: 0)
        let order = NIOLockedValueBox<[String]>([])
        let passwords = Passwords(cost: .testing, threads: 1, queueLimit: 16) { password, _, _, length in
            order.withLockedValue { $0.append(String(decoding: password, as: UTF8.self)) }
            gate.wait()
            return Array(repeating: 1, count: length)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            func add(_ name: String, _ client: Passwords.Client, after count: Int) async throws {
                group.addTask { _ = try await passwords.hash(name, for: client) }
                while passwords.waiting < count { try await Task.sleep(for: .milliseconds(1)) }
            }
            let flood = Passwords.Client(address: "flood")
            try await add("flood", flood, after: 0)
            while order.withLockedValue({ $0.isEmpty }) { try await Task.sleep(for: .milliseconds(1)) }
            for index in 1...4 { try await add("flood", flood, after: index) }
            await #expect(throws: Passwords.Overloaded.self) { try await passwords.hash("flood", for: flood) }
            try await add("stranger", .init(address: "elsewhere"), after: 5)
            try await add("known", .init(address: "elsewhere", isKnown: true), after: 6)
            for _ in 0..<7 { gate.signal() }
            try await group.waitForAll()
        }
        #expect(order.withLockedValue { $0 } == ["flood", "known", "flood", "stranger", "flood", "flood", "flood"])
    }

    @Test(.timeLimit(.minutes(30))) func aCancelledJobIsNotHashed() async throws {
        let gate = DispatchSemaphore(value: 0)
        let count = NIOLockedValueBox(0)
        let passwords = Passwords(cost: .testing, threads: 1, queueLimit: 16) { _, _, _, length in
            count.withLockedValue { $0 += 1 }
            gate.wait()
            return Array(repeating: 1, count: length)
        }
        async let first = passwords.hash("first")
        while count.withLockedValue({ $0 }) == 0 { try await Task.sleep(for: .milliseconds(1)) }
        let second = Task { try await passwords.hash("second") }
        while passwords.waiting == 0 { try await Task.sleep(for: .milliseconds(1)) }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        gate.signal()
        _ = try await first
        gate.signal()
        _ = try await passwords.hash("third")
        #expect(count.withLockedValue { $0 } == 2)
    }
}
