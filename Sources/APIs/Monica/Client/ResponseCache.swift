import ContractClient
import Foundation

/// Stores answers for times without a network.
public protocol ResponseCache: Sendable {
    /// Returns a stored answer.
    ///
    /// - Parameter key: A name for a request with one token, which does not reveal the token.
    func response(for key: String) async -> [UInt8]?
    /// Stores an answer, in place of an earlier one.
    func keep(_ body: [UInt8], for key: String) async
    /// Removes everything. It is called when the user signs out.
    func clear() async
}

/// Stores the answers of this launch in memory: the last 200 that were asked for.
public actor MemoryResponseCache: ResponseCache {
    private var bodies: [String: [UInt8]] = [:]
    /// The keys, the most recently used last.
    private var order: [String] = []
    private let capacity: Int

    public init(capacity: Int = 200) { self.capacity = capacity }

    public func response(for key: String) -> [UInt8]? { bodies[key] }

    public func keep(_ body: [UInt8], for key: String) {
        if bodies.updateValue(body, forKey: key) != nil { order.removeAll { $0 == key } }
        order.append(key)
        if order.count > capacity { bodies[order.removeFirst()] = nil }
    }

    public func clear() {
        bodies = [:]
        order = []
    }
}

/// Stores answers in a folder, so that an app has something to show when it starts without a network.
public struct FileResponseCache: ResponseCache {
    private let folder: URL

    /// Creates a cache.
    ///
    /// - Parameter folder: The folder, which is created when it does not exist. Choose one below `Caches`, so that the
    ///   system may empty it.
    public init(folder: URL) { self.folder = folder }

    public func response(for key: String) async -> [UInt8]? {
        (try? Data(contentsOf: file(key))).map { [UInt8]($0) }
    }

    public func keep(_ body: [UInt8], for key: String) async {
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try? Data(body).write(to: file(key), options: .atomic)
    }

    public func clear() async { try? FileManager.default.removeItem(at: folder) }

    private func file(_ key: String) -> URL { folder.appendingPathComponent(key + ".json") }
}
