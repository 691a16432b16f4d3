import Identity

/// Caches values for a limited time (usually a second), so that a request rarely has to query the database, and changes
/// there are noticed within that time on every node.
public final class TTLCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry {
        let value: Value
        let madeAt: Int64
    }

    private let lifetime: Int64
    private let time: TimeSource
    private let entries: BoundedCache<Key, Entry>
    private let metrics: CacheMetrics

    /// - Parameters:
    ///   - name: The cache's name in metrics: a word.
    ///   - lifetime: The time in milliseconds for which a value is valid.
    ///   - capacity: The most values that are stored; beyond it the least recently used are dropped.
    public init(_ name: String, lifetime: Int64 = 1000, capacity: Int = 20_000, time: TimeSource) {
        metrics = CacheMetrics(name)
        self.lifetime = lifetime
        self.time = time
        entries = BoundedCache(capacity: capacity)
    }

    /// Returns the cached value of a key, unless it is too old.
    public func value(for key: Key) -> Value? {
        // A clock that was set back must not keep values valid.
        let entry = entries.value(for: key).flatMap { entry in
            0..<lifetime ~= time.milliseconds() - entry.madeAt ? entry : nil
        }
        metrics.count(isHit: entry != nil)
        return entry?.value
    }

    /// Returns the cached value of a key, or looks it up and stores it.
    ///
    /// - Parameter look: Looks the value up. A missing value is not stored, so the next call looks it up again.
    public func value(for key: Key, else look: () async throws -> Value?) async throws -> Value? {
        if let value = value(for: key) { return value }
        return try await renew(key, look)
    }

    /// Looks a value up in any case, and stores it.
    public func renew(_ key: Key, _ look: () async throws -> Value?) async throws -> Value? {
        let now = time.milliseconds()
        let found = try await look()
        entries.update(key) { $0 = found.map { Entry(value: $0, madeAt: now) } }
        return found
    }

    public func insert(_ value: Value, for key: Key) {
        entries.insert(Entry(value: value, madeAt: time.milliseconds()), for: key)
    }

    public func remove(_ key: Key) { entries.remove(key) }
}

extension TTLCache where Value == Bool {
    /// Returns whether a condition is true. Only true results are stored.
    public func check(_ key: Key, _ look: () async throws -> Bool) async throws -> Bool {
        try await value(for: key) { try await look() ? true : nil } ?? false
    }
}
