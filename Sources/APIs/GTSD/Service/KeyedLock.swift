import NIOConcurrencyHelpers

/// Lets one task at a time work on each key, in the order in which they came; those of other keys do not wait.
final class KeyedLock: Sendable {
    /// The tasks that wait for each key that is held.
    private let waiting = NIOLockedValueBox<[String: [CheckedContinuation<Void, Never>]]>([:])

    /// Runs a body while no other task works on the key.
    func withLock<Output>(_ key: String, _ body: () async throws -> Output) async rethrows -> Output {
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
            guard var line = waiting[key], !line.isEmpty else {
                waiting[key] = nil
                return nil
            }
            let next = line.removeFirst()
            waiting[key] = line
            return next
        }
        next?.resume()
    }
}
