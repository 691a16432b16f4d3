import Foundation

/// Runs a test with a folder of its own, and removes the folder afterwards.
public func withTemporaryFolder<T>(_ body: (_ path: String) async throws -> T) async throws -> T {
    // A loop that needs a folder each time lets the tasks of other tests have their turn.
    await Task.yield()
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("concord-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try await body(path)
}
