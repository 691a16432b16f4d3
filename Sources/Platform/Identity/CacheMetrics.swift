import CoreMetrics

/// Counts the look-ups in one cache, and those among them that found an entry.
public struct CacheMetrics: Sendable {
    private let hits: Counter
    private let misses: Counter

    /// - Parameter name: The cache's name in metrics: a word.
    public init(_ name: String) {
        func counter(_ result: String) -> Counter {
            Counter(label: "concord_cache_requests_total", dimensions: [("cache", name), ("result", result)])
        }
        hits = counter("hit")
        misses = counter("miss")
    }

    public func count(isHit: Bool) { (isHit ? hits : misses).increment() }
}
