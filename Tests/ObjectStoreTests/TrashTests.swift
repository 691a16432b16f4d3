import Foundation
import NIOCore
import Testbed
import Testing

@testable import ObjectStore

/// A store's id and its trash do not count as objects.
@Suite(.s3Server, .timeLimit(.minutes(30))) struct TrashTests {
    private static let key = ObjectKey("photos/7/cat.jpg")!
    private static let week: Int64 = 7 * 86_400

    private func withStore(
        _ kind: ObjectStoreTests.Kind, _ body: (any ObjectStore) async throws -> Void
    ) async throws {
        switch kind {
        case .local:
            let folder = try TemporaryFolder()
            try await body(LocalObjectStore(in: folder, now: S3Server.now))
        case .s3: try await #require(S3Server.current).withStore { try await body($0) }
        }
    }

    @Test(arguments: ObjectStoreTests.Kind.available)
    func theFirstIdStays(_ kind: ObjectStoreTests.Kind) async throws {
        try await withStore(kind) { store async throws in
            var id = try await store.identity()
            #expect(id == nil)
            let (first, second) = (try await store.identify(as: "first"), try await store.identify(as: "second"))
            #expect(first && !second)
            id = try await store.identity()
            #expect(id == "first")
            let keys = try await store.allKeys()
            #expect(keys == [])
            #expect(ObjectKey(".concord/store-id") == nil)
            #expect(ObjectKey(".concord") == nil)
            #expect(ObjectKey("a/.concord") != nil)
            #expect(ObjectKey(".concordance") != nil)
        }
    }

    /// A backup reads what is deleted while it runs, and clients do not.
    @Test(arguments: ObjectStoreTests.Kind.available)
    func deletedObjectsAreKeptForABackup(_ kind: ObjectStoreTests.Kind) async throws {
        func text(_ object: StoredObject?) async throws -> String? {
            guard let object else { return nil }
            var bytes: [UInt8] = []
            try await object.content.send { bytes += $0.readableBytesView }
            #expect(object.attributes.size == Int64(bytes.count))
            return String(decoding: bytes, as: UTF8.self)
        }
        try await withStore(kind) { store async throws in
            let swept = try #require(ObjectKey("photos/8/dog.jpg"))
            try await store.put("swept", at: swept)
            try await store.discard(swept)
            try await store.put("content", at: Self.key)
            try await store.keepingDeleted {
                #expect(try await text(store.openKept(Self.key)) == "content")
                try await store.delete(Self.key)
                #expect(try await store.size(of: Self.key) == nil)
                #expect(try await store.open(Self.key, in: 0..<7) == nil)
                #expect(try await text(store.openKept(Self.key)) == "content")
                #expect(try await store.emptyTrash(before: .max / 2) == 0)
                #expect(try await text(store.openKept(swept)) == "swept")
            }
            #expect(try await text(store.openKept(Self.key)) == nil)
            #expect(try await text(store.openKept(swept)) == "swept")
            // Without a backup nothing is kept.
            try await store.put("more", at: Self.key)
            try await store.delete(Self.key)
            #expect(try await text(store.openKept(Self.key)) == nil)
        }
    }

    @Test(arguments: ObjectStoreTests.Kind.available)
    func discardedKeysAreRefusedForADay(_ kind: ObjectStoreTests.Kind) async throws {
        try await withStore(kind) { store async throws in
            for _ in 0..<2 {
                try await store.put("content", at: Self.key)
                try await store.discard(Self.key)
                try await store.discard(Self.key)
                #expect(try await store.size(of: Self.key) == nil)
                #expect(try await store.allKeys() == [])
            }
            try await store.put("kept", at: #require(ObjectKey("photos/8/dog.jpg")))
            let now = S3Server.now()
            #expect(try await store.emptyTrash(before: now) == 0)
            #expect(try await store.emptyTrash(before: now + 86_400) == 1)
            #expect(try await store.emptyTrash(before: now + Self.week) == 0)
            #expect(try await store.allKeys().map(\.rawValue) == ["photos/8/dog.jpg"])
        }
    }

    /// An operator moves the objects back as the documentation says.
    @Test func aLocalStoresTrashIsMovedBackAsItLies() async throws {
        let folder = try TemporaryFolder()
        let store = try LocalObjectStore(in: folder, now: { 1_795_359_931 })
        let keys = [Self.key, try #require(ObjectKey(String(repeating: "y", count: 500)))]
        for key in keys {
            try await store.put("content of \(key)", at: key)
            try await store.discard(key)
        }
        #expect(folder.files(in: "objects") == [])
        let day = folder.path + "/trash/2026-11-22"
        for path in folder.files(in: "trash/2026-11-22") {
            let target = "\(folder.path)/objects/\(path)"
            try FileManager.default.createDirectory(
                atPath: (target as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            try FileManager.default.moveItem(atPath: "\(day)/\(path)", toPath: target)
        }
        for key in keys { #expect(try await store.size(of: key) == Int64("content of \(key)".utf8.count)) }
    }

    @Test func daysAreOverWhenTheirLastSecondIs() {
        #expect(StoreNames.day(of: 1_795_359_931) == "2026-11-22")
        #expect(StoreNames.day(of: 0) == "1970-01-01")
        #expect(StoreNames.isOver("1970-01-01", before: 86_400))
        #expect(!StoreNames.isOver("1970-01-01", before: 86_399))
        #expect(!StoreNames.isOver("notes", before: .max))
        #expect(!StoreNames.isOver("1970-01-01", before: .min))
    }
}
