import Identity

/// Values that were looked up a moment ago, each good for a while (a second, as a rule): a request rarely has to ask the
/// database, and what has changed there is noticed within that time, on every node.
public final class TTLCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry {
        let value: Value
        let madeAt: Int64
    }

    private let lifetime: Int64
    private let time: TimeSource
    private let entries: BoundedCache<Key, Entry>

    /// - Parameters:
    ///   - lifetime: The time for which a value is good, in milliseconds.
    ///   - capacity: The number of values that are kept; when there are more, those used least recently go.
    public init(lifetime: Int64 = 1000, capacity: Int = 20_000, time: TimeSource) {
        self.lifetime = lifetime
        self.time = time
        entries = BoundedCache(capacity: capacity)
    }

    /// Returns the value that is kept for a key, unless it is too old.
    public func value(for key: Key) -> Value? {
        // A clock that was set back must not keep anything good.
        guard let entry = entries.value(for: key), 0..<lifetime ~= time.milliseconds() - entry.madeAt else {
            return nil
        }
        return entry.value
    }

    /// Returns the value that is kept for a key, and otherwise looks it up and keeps it.
    ///
    /// - Parameter look: Finds the value. What it does not find is not kept: the next call looks again.
    public func value(for key: Key, else look: () async throws -> Value?) async throws -> Value? {
        if let value = value(for: key) { return value }
        return try await renew(key, look)
    }

    /// Looks a value up whatever is kept, and keeps it.
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
    /// Returns whether something is true. Only what was found true is kept.
    public func check(_ key: Key, _ look: () async throws -> Bool) async throws -> Bool {
        try await value(for: key) { try await look() ? true : nil } ?? false
    }
}
