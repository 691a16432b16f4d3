import ContractClient
import Foundation

/// Keeps answers for when the network is away.
public protocol ResponseCache: Sendable {
    /// - Parameter key: Names a request of one token. It says nothing of the token.
    func response(for key: String) async -> [UInt8]?
    func keep(_ body: [UInt8], for key: String) async
    /// Forgets everything: when somebody signs out.
    func clear() async
}

/// Keeps the answers of this launch, the last 200 that were asked for.
public actor MemoryResponseCache: ResponseCache {
    private var bodies: [String: [UInt8]] = [:]
    /// The latest last.
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

/// Keeps answers in a folder of its own, so that an app has something to show when it starts without a network.
public struct FileResponseCache: ResponseCache {
    private let folder: URL

    /// - Parameter folder: Made when there is none; below `Caches`, so that the system may empty it.
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
