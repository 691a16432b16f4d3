import Foundation
import NIOCore
import Testing

@testable import ObjectStore

@Suite(.timeLimit(.minutes(30))) struct LocalObjectStoreTests {
    private let folder: TemporaryFolder
    private let store: LocalObjectStore

    init() throws {
        folder = try TemporaryFolder()
        store = try LocalObjectStore(in: folder)
    }

    private static let keys = [
        "a", "a/b", "a/b/c", "...", "11111111-2222_cat.jpg", String(repeating: "x", count: 240),
        String(repeating: "x", count: 241), String(repeating: "y", count: 512),
        String(repeating: "d/", count: 255) + "e", String(repeating: "z", count: 239) + "/" + "w",
    ].compactMap(ObjectKey.init)

    private func content(of key: ObjectKey) -> String? {
        FileManager.default.contents(atPath: store.layout.path(of: key)).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func `objects are put, measured, listed and deleted`() async throws {
        for key in Self.keys { try await store.put("content of \(key)", at: key) }
        for key in Self.keys {
            #expect(content(of: key) == "content of \(key)")
            #expect(try await store.size(of: key) == Int64("content of \(key)".utf8.count))
        }
        #expect(folder.files(in: "uploads").isEmpty)
        #expect(try await Set(store.allKeys()) == Set(Self.keys))
        for key in Self.keys {
            try await store.delete(key)
            try await store.delete(key)
            #expect(try await store.size(of: key) == nil)
        }
        #expect(folder.files(in: "objects").isEmpty)
    }

    @Test(arguments: keys)
    func `every key has a path inside the store, which leads back to it`(key: ObjectKey) {
        let components = store.layout.components(of: key)
        #expect(components.allSatisfy { 1...255 ~= $0.utf8.count && !$0.contains("/") && $0 != "." && $0 != ".." })
        #expect(ObjectLayout.key(at: components.dropFirst().joined(separator: "/")) == key)
        #expect(store.layout.path(of: key).hasPrefix(folder.path + "/objects/"))
    }

    @Test func `random keys never share a path`() {
        var generator = SeededGenerator(state: 1)
        var paths: [String: ObjectKey] = [:]
        for _ in 0..<5000 {
            let count = Int.random(in: 1...300, using: &generator)
            let text = String((0..<count).map { _ in "aA.-_/".randomElement(using: &generator) ?? "a" })
            guard let key = ObjectKey(text) else { continue }
            let path = store.layout.path(of: key)
            #expect(paths[path] == nil || paths[path] == key)
            paths[path] = key
        }
        #expect(paths.count > 100)
    }

    @Test func `an object is never replaced`() async throws {
        let key = try #require(ObjectKey("a/b"))
        try await store.put("first", at: key)
        let second = try await store.spool()
        try await second.append(ByteBuffer(string: "second"))
        await #expect(throws: ObjectStoreError.exists(key)) {
            try await store.put(second, at: key, contentType: "text/plain")
        }
        #expect(content(of: key) == "first")
        // The caller still owns the file.
        let other = try #require(ObjectKey("a/c"))
        try await store.put(second, at: other, contentType: "text/plain")
        #expect(content(of: other) == "second")
    }

    @Test func `of many puts on one key exactly one succeeds, completely`() async throws {
        for round in 0..<20 {
            let key = try #require(ObjectKey("race/\(round)"))
            let wins = await withTaskGroup(of: Int?.self) { group in
                for number in 0..<16 {
                    group.addTask {
                        do {
                            try await store.put(String(repeating: "\(number),", count: 1000), at: key)
                            return number
                        } catch {
                            #expect(error as? ObjectStoreError == .exists(key))
                            return nil
                        }
                    }
                }
                return await group.reduce(into: []) { wins, number in number.map { wins.append($0) } }
            }
            let winner = try #require(wins.first)
            #expect(wins.count == 1)
            #expect(content(of: key) == String(repeating: "\(winner),", count: 1000))
        }
        #expect(folder.files(in: "uploads").isEmpty)
    }

    @Test func `a file that was discarded cannot be put`() async throws {
        let key = try #require(ObjectKey("a"))
        let file = try await store.spool()
        try await file.discard()
        await #expect(throws: SpooledFile.Closed.self) { try await store.put(file, at: key, contentType: "") }
        #expect(try await store.size(of: key) == nil)
    }

    @Test func `the sweep sees objects older than the cut-off, and only objects`() async throws {
        let (old, new) = try (#require(ObjectKey("old")), #require(ObjectKey("new")))
        for (key, age) in [(old, 2000.0), (new, 10)] {
            try await store.put("x", at: key)
            let date = Date(timeIntervalSince1970: 1_700_000_000 - age)
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: store.layout.path(of: key))
        }
        let foreign = folder.path + "/objects/00"
        try FileManager.default.createDirectory(atPath: foreign, withIntermediateDirectories: true)
        try Data().write(to: URL(fileURLWithPath: foreign + "/lost & found"))
        #expect(try await store.allKeys(olderThan: 1_700_000_000 - 1000) == [old])
        #expect(try await Set(store.allKeys()) == [old, new])
        #expect(try await store.keys(olderThan: .max, after: "ff") == ObjectKeyPage(keys: [], next: nil))
    }

    @Test func `folders are private, and a crash's uploads are removed at start`() async throws {
        for name in ["objects", "uploads"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + "/" + name)
            #expect(attributes[.posixPermissions] as? Int == 0o700)
        }
        let stale = folder.path + "/uploads/x.part"
        try Data().write(to: URL(fileURLWithPath: stale))
        let date = Date(timeIntervalSince1970: 1_700_000_000 - 100_000)
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: stale)
        let uploading = try await store.spool()
        _ = try LocalObjectStore(in: folder)
        #expect(folder.files(in: "uploads").map { folder.path + "/uploads/" + $0 } == [uploading.path])
    }

    @Test func `readiness fails when nothing can be written`() async throws {
        try await store.check()
        #expect(folder.files(in: "uploads").isEmpty)
        try FileManager.default.removeItem(atPath: folder.path + "/uploads")
        await #expect(throws: FileSystemError.self) { try await store.check() }
    }

    @Test func `discarding the file after its put does not reach the object`() async throws {
        let file = try await store.spool()
        try await file.append(ByteBuffer(string: "x"))
        let key = try #require(ObjectKey("kept"))
        try await store.put(file, at: key, contentType: "")
        try await file.discard()
        #expect(content(of: key) == "x")
    }
}
