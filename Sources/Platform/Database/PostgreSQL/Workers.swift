import NIOConcurrencyHelpers
import NIOPosix

/// Threads that run blocking work in the order of its arrival.
final class Workers: Sendable {
    private struct State {
        var line: WaitingQueue<Work>
        var running = 0
        var isOver = false
    }

    private let count: Int
    private let threads: NIOThreadPool
    private let state: NIOLockedValueBox<State>
    private let inHand = WorkInHand()

    init(_ count: Int, waiting: QueueLimits, metrics: DatabaseMetrics) {
        self.count = count
        threads = NIOThreadPool(numberOfThreads: count)
        state = NIOLockedValueBox(State(line: WaitingQueue(waiting, metrics: metrics)))
        threads.start()
    }

    /// The number of waiting pieces of work.
    var waitingCount: Int { state.withLockedValue { $0.line.count } }

    /// Runs a closure on the next free thread.
    ///
    /// - Throws: ``DatabaseFailure/unavailable(_:)`` when it has waited too long; `CancellationError` when the task is
    ///   cancelled while it waits; the closure's error.
    func run<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        let isPatient = QueueLimits.isPatient
        let result = Outcome<T>()
        let job = Work { result.value = try body() }
        try await job.wait(isPatient: isPatient) {
            let (mustStart, refused) = state.withLockedValue { state -> (Bool, [Work]) in
                if state.isOver { return (false, [job]) }
                let refused = state.line.add(job, isPatient: isPatient)
                guard state.running < count, !state.line.isEmpty else { return (false, refused) }
                state.running += 1
                inHand.begin()
                return (true, refused)
            }
            for other in refused { other.refuse(QueueLimits.refusal) }
            if mustStart { threads.submitSoon { self.work() } }
        }
        return try result.get()
    }

    private func work() {
        while true {
            let next = state.withLockedValue { state in
                let next = state.line.next(1)
                if next.admitted.isEmpty {
                    state.running -= 1
                    inHand.end()
                }
                return next
            }
            for job in next.refused { job.refuse(QueueLimits.refusal) }
            guard let job = next.admitted.first else { return }
            if job.begin() { job.run() }
        }
    }

    /// Refuses all waiting and new work.
    func refuseAll() {
        let waiting = state.withLockedValue { state in
            state.isOver = true
            return state.line.removeAll()
        }
        for job in waiting { job.refuse(QueueLimits.stopping) }
    }

    /// Waits until all accepted work is done.
    func close() async throws {
        state.withLockedValue { $0.isOver = true }
        await inHand.wait()
        try await threads.shutdownGracefully()
    }
}

private final class Work: Pending, @unchecked Sendable {
    private let body: () throws -> Void

    init(_ body: @escaping () throws -> Void) { self.body = body }

    func run() {
        do {
            try body()
            resume(nil)
        } catch {
            resume(error)
        }
    }
}

extension NIOThreadPool {
    /// Hands in work, from an event loop as soon as that has done what it is doing: a thread then wakes once for all
    /// that the loop adds meanwhile.
    func submitSoon(_ work: @escaping @Sendable () -> Void) {
        guard let eventLoop = MultiThreadedEventLoopGroup.currentEventLoop else { return submit { _ in work() } }
        eventLoop.execute { self.submit { _ in work() } }
    }
}
