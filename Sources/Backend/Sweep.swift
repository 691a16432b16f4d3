import ObjectStore

extension ObjectStore {
    /// Removes what no row names: left by uploads that failed half way.
    ///
    /// - Parameters:
    ///   - cutoff: In Unix seconds. Newer objects may have no row yet.
    ///   - known: Those of the keys that rows name.
    public func sweep(
        olderThan cutoff: Int64, keeping known: (_ keys: [String]) async throws -> Set<String>
    ) async throws {
        var cursor: String?
        repeat {
            let page = try await keys(olderThan: cutoff, after: cursor)
            let kept = try await known(page.keys.map(\.rawValue))
            for key in page.keys where !kept.contains(key.rawValue) { try await delete(key) }
            cursor = page.next
        } while cursor != nil
    }
}
