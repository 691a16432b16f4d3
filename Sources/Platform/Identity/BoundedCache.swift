import NIOConcurrencyHelpers

/// A dictionary of limited size that drops the least recently used entries.
///
/// It has two generations. A full young generation becomes the old one, and an entry that is used again moves back.
/// That needs no list in the order of use, and no step handles more than one entry.
public struct BoundedCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Generations {
        var young: [Key: Value] = [:]
        var old: [Key: Value] = [:]
    }

    private let generations = NIOLockedValueBox(Generations())
    private let generationLimit: Int

    /// - Parameter capacity: The most entries. At least half as many of those used last are kept.
    public init(capacity: Int) {
        generationLimit = max(1, capacity / 2)
    }

    public func value(for key: Key) -> Value? {
        let (value, isOld) = generations.withLockedValue { generations -> (Value?, Bool) in
            if let value = generations.young[key] { return (value, false) }
            return (generations.old[key], true)
        }
        if isOld, value != nil { update(key) { _ in } }
        return value
    }

    public func insert(_ value: Value, for key: Key) { update(key) { $0 = value } }

    public func remove(_ key: Key) { update(key) { $0 = nil } }

    /// Changes an entry in one step. Nil stands for no entry, before and after.
    public func update<Result>(_ key: Key, _ body: (inout Value?) -> Result) -> Result {
        let (result, retired) = generations.withLockedValue { generations -> (Result, [Key: Value]) in
            var value = generations.young[key] ?? generations.old.removeValue(forKey: key)
            let result = body(&value)
            var retired: [Key: Value] = [:]
            if value != nil, generations.young[key] == nil, generations.young.count >= generationLimit {
                retired = generations.old
                generations.old = generations.young
                generations.young = [:]
            }
            generations.young[key] = value
            return (result, retired)
        }
        // Thousands of entries may be freed here, outside of the lock.
        _ = retired
        return result
    }

    /// The number of entries, for tests.
    package var count: Int {
        generations.withLockedValue { Set($0.young.keys).union($0.old.keys).count }
    }
}
