import Backend
import Contract
import ContractCheck
import ContractServer
import Foundation
import GTSDAPI
import GTSDCheck
import GTSDService
import HTTPTypes
import Identity
import Logging
import NIOConcurrencyHelpers
import ObjectStore
import Testbed
import Testing

/// Stored files of deleted photos and accounts are removed, however often the store refuses.
@Suite(.timeLimit(.minutes(30))) struct DiscardedObjectTests {
    private struct Refused: Error {}

    /// A store that refuses deletions until a test allows them.
    private struct StubbornStore: ObjectStore {
        let base: LocalObjectStore
        let isRefusing = NIOLockedValueBox(true)

        func delete(_ key: ObjectKey) async throws {
            if isRefusing.withLockedValue({ $0 }) { throw Refused() }
            try await base.delete(key)
        }

        func spool() async throws -> SpooledFile { try await base.spool() }
        func put(_ file: SpooledFile, at key: ObjectKey, contentType: String) async throws {
            try await base.put(file, at: key, contentType: contentType)
        }
        func attributes(of key: ObjectKey) async throws -> ObjectAttributes? { try await base.attributes(of: key) }
        func open(_ key: ObjectKey, in range: Range<Int64>) async throws -> ObjectContent? {
            try await base.open(key, in: range)
        }
        func content(of key: ObjectKey, in range: Range<Int64>) async throws -> [UInt8]? {
            try await base.content(of: key, in: range)
        }
        func keys(olderThan cutoff: Int64, after cursor: String?) async throws -> ObjectKeyPage {
            try await base.keys(olderThan: cutoff, after: cursor)
        }
        func downloadURL(for key: ObjectKey, as download: Download, expiresIn seconds: Int64) throws -> String {
            try base.downloadURL(for: key, as: download, expiresIn: seconds)
        }
        func uploadURL(for key: ObjectKey, upTo size: Int64, expiresIn seconds: Int64) throws -> String {
            try base.uploadURL(for: key, upTo: size, expiresIn: seconds)
        }
        func identity() async throws -> String? { try await base.identity() }
        func identify(as id: String) async throws -> Bool { try await base.identify(as: id) }
        func discard(_ key: ObjectKey) async throws { try await base.discard(key) }
        func emptyTrash(before cutoff: Int64) async throws -> Int { try await base.emptyTrash(before: cutoff) }
        func check() async throws { try await base.check() }
        func reach() async throws { try await base.reach() }
    }

    @Test(arguments: Stack.Engine.available)
    func filesAreRemovedOnceTheStoreAllowsIt(_ engine: Stack.Engine) async throws {
        try await withGTSD(on: Stack(engine, .inProcess)) { host in
            let store = StubbornStore(base: host.objects)
            let service = GTSDService(
                database: host.database, objects: store, passwords: Passwords(cost: .testing), mailer: TestMailbox(),
                secret: .ofTests(9), time: host.clock.source)
            var routes = service.routes()
            routes.serve(host.objects, receiving: service.uploads)
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let table = Router(routes, options: .init(logger: logger))
            let world = GTSDWorld(
                Server(baseURL: host.baseURL, transport: InProcessTransport(table), sockets: host.sockets))
            let (anna, berta) = try await world.pair()
            let bytes = SampleImage.jpeg(width: 8, height: 8)
            var keys: [ObjectKey] = []
            for person in [anna, berta] {
                let place = try await person.put(bytes)
                keys.append(try #require(ObjectKey(place.fileKey)))
                let photo: GTSD.ConfirmedPhoto = try await person.send(
                    GTSD.ConfirmPhoto(fileKey: place.fileKey, fileSize: bytes.count, contentType: "image/jpeg"))
                if person.id == anna.id {
                    let _: NoData = try await person.send(GTSD.DeletePhoto(photo.photoId))
                } else {
                    try await person.client.deleteAccount(password: Person.password)
                }
            }
            func stored() async throws -> [Bool] {
                var stored: [Bool] = []
                for key in keys { stored.append(try await store.size(of: key) != nil) }
                return stored
            }
            // The users cannot reach the files any more, but the store still has them.
            #expect(try await stored() == [true, true])
            // A file that is about to be deleted cannot be confirmed again.
            try await anna.post(
                "/v1/progress/photo/confirm",
                [
                    "fileKey": .string(keys[0].rawValue), "fileSize": .integer(Int64(bytes.count)),
                    "contentType": "image/jpeg",
                ]
            ).refused(404, "File not found in storage: \(keys[0].rawValue)")
            try await service.sweep()
            #expect(try await stored() == [true, true])
            store.isRefusing.withLockedValue { $0 = false }
            try await service.sweep()
            #expect(try await stored() == [false, false])
            // The keys are kept until no upload URL for them is valid.
            func remembered() async throws -> Int64? {
                try await host.database.read { try $0.value("SELECT COUNT(*) FROM discarded_objects") }
            }
            #expect(try await remembered() == 2)
            host.clock.advance(by: .seconds(3600 + 900 - 1))
            try await service.sweep()
            #expect(try await remembered() == 2)
            host.clock.advance(by: .seconds(1))
            try await service.sweep()
            #expect(try await remembered() == 0)
        }
    }
}
