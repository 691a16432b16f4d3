import NIOConcurrencyHelpers

/// The error for a caller who has too many requests of a kind in progress.
public struct TooManyAtOnce: Error {
    public init() {}
}

/// Limits how many requests of a kind run at the same time for one caller. A few more wait for a moment. So a caller
/// with many requests does not slow down others.
public final class CallerLimit<Caller: Hashable & Sendable>: Sendable {
    private struct Queue {
        var running = 0
        var waiting: [(id: UInt64, continuation: CheckedContinuation<Void, any Error>)] = []
    }

    private struct State {
        var queues: [Caller: Queue] = [:]
        var nextID: UInt64 = 0
    }

    private let state = NIOLockedValueBox(State())
    private let atOnce: Int
    private let queued: Int
    private let patience: @Sendable () async throws -> Void

    /// - Parameter patience: Returns when the request should stop waiting.
    public init(
        atOnce: Int, queued: Int = 32,
        patience: @escaping @Sendable () async throws -> Void = { try await Task.sleep(for: .seconds(1)) }
    ) {
        self.atOnce = max(1, atOnce)
        self.queued = queued
        self.patience = patience
    }

    /// Runs `work` when the caller has fewer requests running than the limit.
    ///
    /// - Throws: ``TooManyAtOnce``, `CancellationError` when the task is cancelled while it waits, and what `work`
    ///   throws.
    public func run<Output: Sendable>(
        for caller: Caller, _ work: @Sendable () async throws -> Output
    ) async throws -> Output {
        try await enter(caller)
        defer { leave(caller) }
        return try await work()
    }

    /// Returns the numbers of a caller's requests that run and that wait.
    public func standing(of caller: Caller) -> (running: Int, waiting: Int) {
        state.withLockedValue { ($0.queues[caller]?.running ?? 0, $0.queues[caller]?.waiting.count ?? 0) }
    }

    private func enter(_ caller: Caller) async throws {
        try Task.checkCancellation()
        let id: UInt64? = try state.withLockedValue { state in
            if state.queues[caller, default: Queue()].running < atOnce {
                state.queues[caller, default: Queue()].running += 1
                return nil
            }
            guard state.queues[caller, default: Queue()].waiting.count < queued else { throw TooManyAtOnce() }
            state.nextID += 1
            return state.nextID
        }
        guard let id else { return }
        let limit = NIOLockedValueBox<Task<Void, Never>?>(nil)
        defer { limit.withLockedValue { $0?.cancel() } }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let mayRun = state.withLockedValue { state in
                    if state.queues[caller, default: Queue()].running < atOnce {
                        state.queues[caller, default: Queue()].running += 1
                        return true
                    }
                    state.queues[caller, default: Queue()].waiting.append((id, continuation))
                    return false
                }
                if mayRun { return continuation.resume() }
                // The task may have been cancelled before it was in the queue.
                if Task.isCancelled { return abandon(caller, id, CancellationError()) }
                let task = Task { [patience] in
                    do { try await patience() } catch { return }
                    self.abandon(caller, id, TooManyAtOnce())
                }
                limit.withLockedValue { $0 = task }
            }
        } onCancel: {
            abandon(caller, id, CancellationError())
        }
    }

    private func leave(_ caller: Caller) {
        let next = state.withLockedValue { state -> CheckedContinuation<Void, any Error>? in
            guard var queue = state.queues[caller] else { return nil }
            defer { state.queues[caller] = queue.running == 0 && queue.waiting.isEmpty ? nil : queue }
            // The place is passed on, so that a new request cannot get in between.
            if !queue.waiting.isEmpty { return queue.waiting.removeFirst().continuation }
            queue.running -= 1
            return nil
        }
        next?.resume()
    }

    private func abandon(_ caller: Caller, _ id: UInt64, _ reason: any Error) {
        let continuation = state.withLockedValue { state -> CheckedContinuation<Void, any Error>? in
            guard let index = state.queues[caller]?.waiting.firstIndex(where: { $0.id == id }) else { return nil }
            return state.queues[caller]?.waiting.remove(at: index).continuation
        }
        continuation?.resume(throwing: reason)
    }
}
