import Backend
import Database
import Foundation
import NIOCore
import ObjectStore
import Testbed
import Testing

/// A database accepts only the object store that belongs to it.
@Suite(.timeLimit(.minutes(30))) struct StorePairingTests {
    private static let schema = Schema("things", [.init("files", ["CREATE TABLE files (key {KEY} PRIMARY KEY)"])])

    private struct Place {
        let folder: String
        let engine: Stack.Engine
        let database: Database
        let store: LocalObjectStore

        func pairing(_ store: LocalObjectStore? = nil, isLocal: Bool = true) -> StorePairing {
            let database = database
            return StorePairing(
                api: "things", database: database, store: store ?? self.store,
                references: ObjectReferences(
                    known: { keys in
                        try await database.read { db in
                            Set(try db.all("SELECT key FROM files WHERE key IN (\(list: keys))") { try $0.get(0) })
                        }
                    },
                    some: { limit in
                        try await database.read { db in
                            try db.all("SELECT key FROM files LIMIT \(limit)") { try $0.get(0) }
                        }
                    }), databasePlace: "the database here", storePlace: "the folder there", isLocal: isLocal)
        }

        func otherStore(_ name: String) throws -> LocalObjectStore {
            try LocalObjectStore(
                folder: "\(folder)/\(name)", keys: storeKeys(7), baseURL: "http://test",
                now: { 0 })
        }

        func add(row key: String) async throws {
            try await database.write { try $0.run("INSERT INTO files VALUES (\(key))") }
        }

        func id() async throws -> String? { try await database.read { try $0.fact("object store") } }
    }

    private static func add(_ key: String, to store: LocalObjectStore) async throws {
        let file = try await store.spool()
        try await file.append(ByteBuffer(string: key))
        try await store.put(file, at: try #require(ObjectKey(key)), contentType: "text/plain")
    }

    private func withPlace(_ engine: Stack.Engine, _ body: (Place) async throws -> Void) async throws {
        try await withTestDatabase(on: engine) { place async throws in
            let database = try place.open(Self.schema)
            let store = try LocalObjectStore(
                folder: place.folder + "/files", keys: storeKeys(7), baseURL: "http://test",
                now: { 0 })
            try await body(Place(folder: place.folder, engine: engine, database: database, store: store))
            try await database.close()
        }
    }

    @Test(arguments: Stack.Engine.available, [true, false])
    func newStoresArePaired(_ engine: Stack.Engine, _ isLocal: Bool) async throws {
        try await withPlace(engine) { place async throws in
            #expect(try await place.pairing(isLocal: isLocal).reconcile() == .paired)
            let id = try #require(try await place.id())
            #expect(try await place.store.identity() == id)
            #expect(try await place.pairing(isLocal: isLocal).reconcile() == .known)
            let file = place.folder + "/files/store-id"
            #expect(try String(contentsOfFile: file, encoding: .utf8) == id + "\n")
            #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
        }
    }

    /// Databases and stores from before there were ids are paired if the store has objects that rows name.
    @Test(arguments: Stack.Engine.available, [true, false])
    func olderStoresThatBelongTogetherArePaired(_ engine: Stack.Engine, _ isLocal: Bool) async throws {
        try await withPlace(engine) { place async throws in
            for key in ["a", "b"] { try await place.add(row: key) }
            for key in ["b", "c", "d"] { try await Self.add(key, to: place.store) }
            #expect(try await place.pairing(isLocal: isLocal).reconcile() == .paired)
            #expect(try await place.pairing(isLocal: isLocal).reconcile() == .known)
        }
    }

    @Test(arguments: Stack.Engine.available)
    func rowsWithoutAnyFileAreReported(_ engine: Stack.Engine) async throws {
        try await withPlace(engine) { place async throws in
            try await place.add(row: "a")
            #expect(try await place.pairing().reconcile() == .pairedWithoutFiles)
        }
    }

    /// The database is empty, or names none of the stored objects.
    @Test(arguments: Stack.Engine.available, [true, false])
    func filesOfAnotherDatabaseAreRefused(_ engine: Stack.Engine, _ isLocal: Bool) async throws {
        for (isMarked, hasRows) in [(false, false), (false, true), (true, false), (true, true)] {
            try await withPlace(engine) { place async throws in
                try await Self.add("kept", to: place.store)
                if isMarked { #expect(try await place.store.identify(as: "of-another")) }
                if hasRows { try await place.add(row: "a") }
                let error = await #expect(throws: StoreMismatch.self) {
                    try await place.pairing(isLocal: isLocal).reconcile()
                }
                let words = error?.description ?? ""
                #expect(words.contains("the database here") || words.contains("The database here"))
                #expect(words.contains("he folder there") && words.contains("--adopt-store things"))
                // Nothing was written: the right database is still accepted.
                #expect(try await place.id() == nil)
                #expect(try await place.store.identity() == (isMarked ? "of-another" : nil))
                #expect(try await place.store.size(of: #require(ObjectKey("kept"))) == 4)

                #expect(try await place.pairing(isLocal: isLocal).reconcile(adopts: true) == .adopted)
                #expect(try await place.pairing(isLocal: isLocal).reconcile() == .known)
                if isMarked { #expect(try await place.id() == "of-another") }
            }
        }
    }

    @Test(arguments: Stack.Engine.available)
    func anotherStoreIsRefused(_ engine: Stack.Engine) async throws {
        try await withPlace(engine) { place async throws in
            _ = try await place.pairing().reconcile()
            try await place.add(row: "a")
            try await Self.add("a", to: place.store)
            let other = try place.otherStore("other")
            // The store has no id, and no object that a row names.
            await #expect(throws: StoreMismatch.self) { try await place.pairing(other).reconcile() }
            await #expect(throws: StoreMismatch.self) { try await place.pairing(other, isLocal: false).reconcile() }
            #expect(try await other.identity() == nil)
            // The store has another id.
            #expect(try await other.identify(as: "another"))
            #expect(try await !other.identify(as: "a third"))
            await #expect(throws: StoreMismatch.self) { try await place.pairing(other).reconcile() }
            #expect(try await place.pairing(other).reconcile(adopts: true) == .adopted)
            #expect(try await place.id() == "another")
            await #expect(throws: StoreMismatch.self) { try await place.pairing().reconcile() }
        }
    }

    /// The files were copied without the id. If nodes share the database, the folder may be another node's.
    @Test(arguments: Stack.Engine.available)
    func aCopyWithoutItsIdIsRecognisedByItsContent(_ engine: Stack.Engine) async throws {
        try await withPlace(engine) { place async throws in
            _ = try await place.pairing().reconcile()
            try await place.add(row: "a")
            let copy = try place.otherStore("copy")
            try await Self.add("a", to: copy)
            if engine == .postgreSQL {
                let error = await #expect(throws: StoreMismatch.self) { try await place.pairing(copy).reconcile() }
                #expect(error?.description.contains("--objects s3://") == true)
            } else {
                #expect(try await place.pairing(copy).reconcile() == .paired)
            }
            let bucket = try place.otherStore("bucket")
            try await Self.add("a", to: bucket)
            #expect(try await place.pairing(bucket, isLocal: false).reconcile() == .paired)
            #expect(try await bucket.identity() == place.id())
        }
    }

    /// A second node has a folder of its own, and starts later or at the same moment.
    @Test(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"))
    func aSecondFolderOnOneDatabaseIsRefused() async throws {
        try await withPlace(.postgreSQL) { place async throws in
            let pairings = try (0..<4).map { place.pairing(try place.otherStore("node\($0)")) }
            let outcomes = await withTaskGroup(of: Bool.self) { group in
                for pairing in pairings {
                    group.addTask {
                        do { return try await pairing.reconcile() == .paired } catch { return false }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.count { $0 } == 1)
        }
    }

    /// Several nodes start at the same time with one bucket.
    @Test(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"))
    func nodesThatStartAtOnceShareABucket() async throws {
        try await withPlace(.postgreSQL) { place async throws in
            let pairing = place.pairing(isLocal: false)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 { group.addTask { _ = try await pairing.reconcile() } }
                try await group.waitForAll()
            }
            #expect(try await place.store.identity() == place.id())
        }
    }

    @Test func aDamagedMarkIsReported() async throws {
        try await withPlace(.sqlite) { place async throws in
            try Data("\n".utf8).write(to: URL(fileURLWithPath: place.folder + "/files/store-id"))
            await #expect(throws: ObjectStoreError.damagedIdentity(place.folder + "/files/store-id")) {
                try await place.pairing().reconcile()
            }
        }
    }

    /// Nothing is written to a bucket before it is known to be the right one.
    @Test func aGuardedStoreRefusesWritesBeforeItIsOpened() async throws {
        try await withPlace(.sqlite) { place async throws in
            let guarded = GuardedObjectStore(place.store)
            let key = try #require(ObjectKey("a"))
            try await Self.add("a", to: place.store)
            await #expect(throws: StoreNotPaired.self) { try await guarded.delete(key) }
            await #expect(throws: StoreNotPaired.self) { try await guarded.discard(key) }
            await #expect(throws: StoreNotPaired.self) { try await guarded.check() }
            let file = try await guarded.spool()
            await #expect(throws: StoreNotPaired.self) {
                try await guarded.put(file, at: #require(ObjectKey("b")), contentType: "text/plain")
            }
            #expect(try await guarded.size(of: key) == 1)
            guarded.unlock()
            try await guarded.check()
            try await guarded.put(file, at: #require(ObjectKey("b")), contentType: "text/plain")
            try await guarded.delete(key)
            #expect(try await guarded.size(of: key) == nil)
        }
    }
}
