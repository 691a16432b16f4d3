import Identity

/// What was found true, remembered for a second each: a request rarely has to ask the database, and what is no longer
/// true ends within a second, on every node.
public final class RecentlyTrue<Key: Hashable & Sendable>: Sendable {
    /// In milliseconds.
    public static var freshness: Int64 { 1000 }

    private let time: TimeSource
    /// When each was last found true.
    private let seen: BoundedCache<Key, Int64>

    /// - Parameter capacity: So many are remembered; of more, those used last.
    public init(capacity: Int = 20_000, time: TimeSource) {
        seen = BoundedCache(capacity: capacity)
        self.time = time
    }

    /// Whether it is true.
    ///
    /// - Parameter look: Finds out. Not called for what was found true within the last second.
    public func check(_ key: Key, _ look: () async throws -> Bool) async throws -> Bool {
        let now = time.milliseconds()
        // A clock that was set back must not keep anything true.
        if let last = seen.value(for: key), 0..<Self.freshness ~= now - last { return true }
        let isTrue = try await look()
        seen.update(key) { $0 = isTrue ? now : nil }
        return isTrue
    }

    public func forget(_ key: Key) { seen.remove(key) }
}
