import Crypto
import Foundation
import NIOCore
import ObjectStore

/// A folder of the test's own, removed with the last reference to it.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "concord-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Returns every file under `name`, as paths relative to it.
    func files(in name: String) -> [String] {
        let root = path + "/" + name
        let names = FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []
        return names.filter { name in
            var isFolder: ObjCBool = false
            let exists = FileManager.default.fileExists(atPath: root + "/" + name, isDirectory: &isFolder)
            return exists && !isFolder.boolValue
        }
    }
}

/// A generator (SplitMix64) that makes the same choices in each run.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// Returns keys of 32 equal bytes each: the one that signs, and then a former one.
func signingKeys(_ bytes: UInt8...) -> @Sendable () -> [SymmetricKey] {
    { bytes.map { SymmetricKey(data: Array(repeating: $0, count: 32)) } }
}

extension LocalObjectStore {
    /// Creates a store in `folder` whose clock stands at `time`.
    init(in folder: TemporaryFolder, at time: Int64 = 1_700_000_000, key: UInt8 = 1) throws {
        try self.init(in: folder, key: key) { time }
    }

    /// Creates a store in `folder` with a clock.
    init(in folder: TemporaryFolder, key: UInt8 = 1, now: @escaping @Sendable () -> Int64) throws {
        try self.init(
            folder: folder.path, keys: signingKeys(key),
            baseURL: "http://localhost:8080/objects", now: now)
    }
}

extension ObjectStore {
    /// Stores `text` under `key`.
    func put(_ text: String, at key: ObjectKey) async throws {
        let file = try await spool()
        try await file.append(ByteBuffer(string: text))
        do {
            try await put(file, at: key, contentType: "text/plain")
        } catch {
            try await file.discard()
            throw error
        }
    }

    /// Returns the keys of all pages.
    func allKeys(olderThan cutoff: Int64 = .max) async throws -> [ObjectKey] {
        var keys: [ObjectKey] = []
        var cursor: String?
        repeat {
            let page = try await self.keys(olderThan: cutoff, after: cursor)
            keys += page.keys
            cursor = page.next
        } while cursor != nil
        return keys
    }
}

/// Returns the digest of a text, in lower-case hexadecimal.
func sha256(_ text: String) -> String {
    SHA256.hash(data: Array(text.utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
