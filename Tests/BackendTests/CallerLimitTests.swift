import Backend
import NIOConcurrencyHelpers
import Testing

@Suite(.timeLimit(.minutes(30))) struct CallerLimitTests {
    /// A gate that opens once.
    private final class Gate: Sendable {
        private let stream: AsyncStream<Void>
        private let continuation: AsyncStream<Void>.Continuation

        init() { (stream, continuation) = AsyncStream.makeStream() }
        func open() { continuation.finish() }
        func wait() async { for await _ in stream {} }
    }

    private func until(_ condition: () -> Bool) async throws {
        while !condition() { try await Task.sleep(for: .milliseconds(1)) }
    }

    @Test func aCallersWorkWaitsForItsOwnOnly() async throws {
        let limit = CallerLimit<Int>(atOnce: 2, patience: { try await Task.sleep(for: .seconds(3600)) })
        let gate = Gate()
        let most = NIOLockedValueBox((now: 0, most: 0))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<12 {
                group.addTask {
                    try await limit.run(for: 1) {
                        most.withLockedValue {
                            $0.now += 1
                            $0.most = max($0.most, $0.now)
                        }
                        await gate.wait()
                        most.withLockedValue { $0.now -= 1 }
                    }
                }
            }
            try await until { limit.standing(of: 1) == (2, 10) }
            // Another caller does not wait.
            let other = try await limit.run(for: 2) { "served" }
            #expect(other == "served")
            gate.open()
            try await group.waitForAll()
        }
        #expect(most.withLockedValue { $0.most } == 2)
        #expect(limit.standing(of: 1) == (0, 0))
    }

    @Test func longWaitsAndFullQueuesAreRefused() async throws {
        let (gate, patience) = (Gate(), Gate())
        let limit = CallerLimit<Int>(atOnce: 1, queued: 1, patience: { await patience.wait() })
        let first = Task { try await limit.run(for: 1) { await gate.wait() } }
        try await until { limit.standing(of: 1).running == 1 }
        let second = Task { try await limit.run(for: 1) {} }
        try await until { limit.standing(of: 1).waiting == 1 }
        await #expect(throws: TooManyAtOnce.self) { try await limit.run(for: 1) {} }
        patience.open()
        await #expect(throws: TooManyAtOnce.self) { try await second.value }
        #expect(limit.standing(of: 1) == (1, 0))
        gate.open()
        try await first.value
    }

    @Test func cancelledCallersLeaveTheQueue() async throws {
        let gate = Gate()
        let limit = CallerLimit<Int>(atOnce: 1, patience: { try await Task.sleep(for: .seconds(3600)) })
        let first = Task { try await limit.run(for: 1) { await gate.wait() } }
        try await until { limit.standing(of: 1).running == 1 }
        let second = Task { try await limit.run(for: 1) {} }
        try await until { limit.standing(of: 1).waiting == 1 }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        gate.open()
        try await first.value
        try await limit.run(for: 1) {}
    }
}
