import ObjectStore

extension LocalObjectStore {
    /// The keys of all objects.
    public func allKeys() async throws -> [String] {
        var keys: [String] = []
        var cursor: String?
        repeat {
            let page = try await self.keys(olderThan: .max, after: cursor)
            keys += page.keys.map(\.rawValue)
            cursor = page.next
        } while cursor != nil
        return keys
    }
}
