import NIOConcurrencyHelpers
import NIOPosix

private protocol Job: WaitingTransaction {
    func run()
}

/// Threads that run blocking work in the order of its arrival.
final class Workers: Sendable {
    private struct State {
        var line: WaitingQueue<any Job>
        var running = 0
        var isOver = false
    }

    private let count: Int
    private let threads: NIOThreadPool
    private let state: NIOLockedValueBox<State>

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
        let pending = Pending<T>()
        return try await pending.value(isPatient: isPatient) {
            let job = Work(body, pending)
            let (mustStart, refused) = state.withLockedValue { state -> (Bool, [any Job]) in
                if state.isOver { return (false, [job]) }
                let refused = state.line.add(job, isPatient: isPatient)
                guard state.running < count, !state.line.isEmpty else { return (false, refused) }
                state.running += 1
                return (true, refused)
            }
            for other in refused { other.refuse(QueueLimits.refusal) }
            if mustStart { threads.submitSoon { self.work() } }
        }
    }

    private func work() {
        while true {
            let next = state.withLockedValue { state in
                let next = state.line.next(1)
                if next.admitted.isEmpty { state.running -= 1 }
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
        try await threads.shutdownGracefully()
    }

    private final class Work<T: Sendable>: Job {
        private let body: @Sendable () throws -> T
        private let pending: Pending<T>

        init(_ body: @escaping @Sendable () throws -> T, _ pending: Pending<T>) {
            self.body = body
            self.pending = pending
        }

        func begin() -> Bool { pending.begin() }
        func refuse(_ reason: any Error) { pending.resume(.failure(reason)) }
        func run() { pending.resume(Result { try body() }) }
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

/// A caller that waits for the result of a transaction, and may be cancelled until it has begun.
final class Pending<Value: Sendable>: Sendable {
    private enum State {
        case new
        case waiting(CheckedContinuation<Value, any Error>)
        case begun(CheckedContinuation<Value, any Error>)
        case over
    }

    private let state = NIOLockedValueBox(State.new)

    /// Waits for the value.
    ///
    /// - Parameters:
    ///   - isPatient: Whether it keeps waiting when its task is cancelled.
    ///   - enqueue: Starts the work that provides the value.
    func value(isPatient: Bool, _ enqueue: () -> Void) async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isNew = state.withLockedValue { state in
                    guard case .new = state else { return false }
                    state = .waiting(continuation)
                    return true
                }
                if isNew { enqueue() } else { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            if !isPatient { cancel() }
        }
    }

    /// Marks the work as running. Returns false when the caller was cancelled.
    func begin() -> Bool {
        state.withLockedValue { state in
            guard case .waiting(let continuation) = state else { return false }
            state = .begun(continuation)
            return true
        }
    }

    func resume(_ result: Result<Value, any Error>) {
        let continuation = state.withLockedValue { state -> CheckedContinuation<Value, any Error>? in
            defer { state = .over }
            return switch state {
            case .waiting(let continuation), .begun(let continuation): continuation
            case .new, .over: nil
            }
        }
        continuation?.resume(with: result)
    }

    private func cancel() {
        let continuation = state.withLockedValue { state -> CheckedContinuation<Value, any Error>? in
            switch state {
            case .new:
                state = .over
                return nil
            case .waiting(let continuation):
                state = .over
                return continuation
            case .begun, .over: return nil
            }
        }
        continuation?.resume(throwing: CancellationError())
    }
}
