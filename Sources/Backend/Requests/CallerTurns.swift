import NIOConcurrencyHelpers

/// The error for a caller who has too many requests of a kind under way.
public struct TooMuchAtOnce: Error {
    public init() {}
}

/// A limit on how many of one caller's requests of a kind run at the same time; a few more wait a moment. A caller with many
/// requests holds up no other.
public final class CallerTurns<Caller: Hashable & Sendable>: Sendable {
    private struct Line {
        var running = 0
        var waiting: [(id: UInt64, continuation: CheckedContinuation<Void, any Error>)] = []
    }

    private struct State {
        var lines: [Caller: Line] = [:]
        var nextID: UInt64 = 0
    }

    private let state = NIOLockedValueBox(State())
    private let atOnce: Int
    private let inLine: Int
    private let patience: @Sendable () async throws -> Void

    /// - Parameter patience: Returns when the wait for a turn is given up.
    public init(
        atOnce: Int, inLine: Int = 32,
        patience: @escaping @Sendable () async throws -> Void = { try await Task.sleep(for: .seconds(1)) }
    ) {
        self.atOnce = max(1, atOnce)
        self.inLine = inLine
        self.patience = patience
    }

    /// Runs `work` when it is the caller's turn.
    ///
    /// - Throws: ``TooMuchAtOnce``, `CancellationError` when the task is cancelled while it waits, and what `work` throws.
    public func take<Output: Sendable>(
        for caller: Caller, _ work: @Sendable () async throws -> Output
    ) async throws -> Output {
        try await enter(caller)
        defer { leave(caller) }
        return try await work()
    }

    /// Returns how many of a caller's requests run now, and how many wait.
    public func standing(of caller: Caller) -> (running: Int, waiting: Int) {
        state.withLockedValue { ($0.lines[caller]?.running ?? 0, $0.lines[caller]?.waiting.count ?? 0) }
    }

    private func enter(_ caller: Caller) async throws {
        try Task.checkCancellation()
        let id: UInt64? = try state.withLockedValue { state in
            if state.lines[caller, default: Line()].running < atOnce {
                state.lines[caller, default: Line()].running += 1
                return nil
            }
            guard state.lines[caller, default: Line()].waiting.count < inLine else { throw TooMuchAtOnce() }
            state.nextID += 1
            return state.nextID
        }
        guard let id else { return }
        let limit = NIOLockedValueBox<Task<Void, Never>?>(nil)
        defer { limit.withLockedValue { $0?.cancel() } }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let hasTurn = state.withLockedValue { state in
                    if state.lines[caller, default: Line()].running < atOnce {
                        state.lines[caller, default: Line()].running += 1
                        return true
                    }
                    state.lines[caller, default: Line()].waiting.append((id, continuation))
                    return false
                }
                if hasTurn { return continuation.resume() }
                // The task may have been cancelled before it was in the queue.
                if Task.isCancelled { return abandon(caller, id, CancellationError()) }
                let task = Task { [patience] in
                    do { try await patience() } catch { return }
                    self.abandon(caller, id, TooMuchAtOnce())
                }
                limit.withLockedValue { $0 = task }
            }
        } onCancel: {
            abandon(caller, id, CancellationError())
        }
    }

    private func leave(_ caller: Caller) {
        let next = state.withLockedValue { state -> CheckedContinuation<Void, any Error>? in
            guard var line = state.lines[caller] else { return nil }
            defer { state.lines[caller] = line.running == 0 && line.waiting.isEmpty ? nil : line }
            // The turn is handed over, so that a new request cannot get in between.
            if !line.waiting.isEmpty { return line.waiting.removeFirst().continuation }
            line.running -= 1
            return nil
        }
        next?.resume()
    }

    private func abandon(_ caller: Caller, _ id: UInt64, _ reason: any Error) {
        let continuation = state.withLockedValue { state -> CheckedContinuation<Void, any Error>? in
            guard let index = state.lines[caller]?.waiting.firstIndex(where: { $0.id == id }) else { return nil }
            return state.lines[caller]?.waiting.remove(at: index).continuation
        }
        continuation?.resume(throwing: reason)
    }
}
