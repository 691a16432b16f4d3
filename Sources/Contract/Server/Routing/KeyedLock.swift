import NIOConcurrencyHelpers

/// Runs one task at a time for each key, in the order of arrival. Tasks with different keys do not wait for each other. A
/// task that is cancelled waits for its turn as well.
public final class KeyedLock: Sendable {
    /// The waiting tasks of each key that is locked.
    private let waiting = NIOLockedValueBox<[String: [CheckedContinuation<Void, Never>]]>([:])

    public init() {}

    /// Runs a closure while no other task has the key.
    public func withLock<Output>(_ key: String, _ body: () async throws -> Output) async rethrows -> Output {
        await withCheckedContinuation { continuation in
            let isFree = waiting.withLockedValue { waiting in
                guard waiting[key] != nil else {
                    waiting[key] = []
                    return true
                }
                waiting[key]?.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
        defer { release(key) }
        return try await body()
    }

    private func release(_ key: String) {
        let next = waiting.withLockedValue { waiting -> CheckedContinuation<Void, Never>? in
            guard var queue = waiting[key], !queue.isEmpty else {
                waiting[key] = nil
                return nil
            }
            let next = queue.removeFirst()
            waiting[key] = queue
            return next
        }
        next?.resume()
    }
}
