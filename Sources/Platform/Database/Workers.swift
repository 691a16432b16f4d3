import NIOConcurrencyHelpers
import NIOCore
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
        let job = Work(body)
        return try await job.value(isPatient: isPatient) {
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

    private final class Work<T: Sendable>: Pending<T>, Job, @unchecked Sendable {
        private let body: @Sendable () throws -> T

        init(_ body: @escaping @Sendable () throws -> T) { self.body = body }

        func run() { resume(Result { try body() }) }
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
class Pending<Value: Sendable>: WaitingTransaction, @unchecked Sendable {
    private enum State {
        case new
        case waiting(UnsafeContinuation<Value, any Error>)
        case begun(UnsafeContinuation<Value, any Error>)
        case over
    }

    private let state = NIOLockedValueBox(State.new)
    /// The event loop on which the caller waits, if it is one.
    final let eventLoop: (any EventLoop)? = MultiThreadedEventLoopGroup.currentEventLoop

    /// Waits for the value.
    ///
    /// - Parameters:
    ///   - isPatient: Whether it keeps waiting when its task is cancelled.
    ///   - enqueue: Starts the work that provides the value.
    final func value(isPatient: Bool, _ enqueue: () -> Void) async throws -> Value {
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
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

    final func begin() -> Bool {
        state.withLockedValue { state in
            guard case .waiting(let continuation) = state else { return false }
            state = .begun(continuation)
            return true
        }
    }

    final func refuse(_ reason: any Error) { resume(.failure(reason)) }

    /// Resumes the caller, once.
    final func resume(_ result: Result<Value, any Error>) { takeContinuation(ifBegun: true)?.resume(with: result) }

    private func cancel() { takeContinuation(ifBegun: false)?.resume(throwing: CancellationError()) }

    private func takeContinuation(ifBegun: Bool) -> UnsafeContinuation<Value, any Error>? {
        state.withLockedValue { state in
            switch state {
            case .new:
                state = .over
                return nil
            case .begun(let continuation):
                guard ifBegun else { return nil }
                state = .over
                return continuation
            case .waiting(let continuation):
                state = .over
                return continuation
            case .over: return nil
            }
        }
    }
}
