import NIOConcurrencyHelpers

/// What was found true, remembered for a second each: a request rarely has to ask the database, and what is no longer
/// true ends within a second, on every node.
public final class RecentlyTrue<Key: Hashable & Sendable>: Sendable {
    /// In milliseconds.
    public static var freshness: Int64 { 1000 }

    private let capacity: Int
    private let time: TimeSource
    /// When each was last found true.
    private let seen = NIOLockedValueBox<[Key: Int64]>([:])

    /// - Parameter capacity: So many are remembered; when there are more, all are forgotten.
    public init(capacity: Int = 20_000, time: TimeSource) {
        self.capacity = capacity
        self.time = time
    }

    /// Whether it is true.
    ///
    /// - Parameter look: Finds out. Not called for what was found true within the last second.
    public func check(_ key: Key, _ look: () async throws -> Bool) async throws -> Bool {
        let now = time.milliseconds()
        // A clock that was set back must not keep anything true.
        if let last = seen.withLockedValue({ $0[key] }), 0..<Self.freshness ~= now - last { return true }
        let isTrue = try await look()
        seen.withLockedValue { seen in
            if seen.count >= capacity { seen.removeAll(keepingCapacity: true) }
            seen[key] = isTrue ? now : nil
        }
        return isTrue
    }

    public func forget(_ key: Key) { seen.withLockedValue { $0[key] = nil } }
}
