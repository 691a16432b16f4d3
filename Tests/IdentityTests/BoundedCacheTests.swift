import Identity
import Testing

/// The cache keeps values that are in use, up to its capacity.
@Suite(.timeLimit(.minutes(30))) struct BoundedCacheTests {
    @Test func usedValuesStayAndOthersAreDropped() {
        let cache = BoundedCache<Int, String>(capacity: 10)
        for key in 0..<1000 {
            cache.insert("\(key)", for: key)
            #expect(cache.value(for: 0) == "0")
            #expect(cache.count <= 10)
            for recent in max(0, key - 2)...key { #expect(cache.value(for: recent) == "\(recent)") }
        }
        #expect(cache.value(for: 1) == nil)
    }

    @Test func removedValuesAreGoneFromBothGenerations() {
        let cache = BoundedCache<Int, Int>(capacity: 4)
        for key in 0..<4 { cache.insert(key, for: key) }
        for key in 0..<4 {
            cache.remove(key)
            #expect(cache.value(for: key) == nil)
        }
        #expect(cache.count == 0)
    }

    @Test func aChangeIsOneStep() async {
        let cache = BoundedCache<String, Int>(capacity: 4)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<1000 { group.addTask { cache.update("a") { $0 = ($0 ?? 0) + 1 } } }
        }
        #expect(cache.value(for: "a") == 1000)
        // Updating a missing value does not create one.
        cache.update("b") { _ in }
        #expect(cache.count == 1)
    }
}
