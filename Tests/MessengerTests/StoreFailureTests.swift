import Backend
import Contract
import ContractServer
import Foundation
import HTTPTypes
import Identity
import MessengerAPI
import MessengerCheck
import NIOPosix
import ObjectStore
import Testbed
import Testing

@testable import MessengerService

/// Uploads that the store does not accept are answered correctly.
@Suite(.timeLimit(.minutes(30))) struct StoreFailureTests {
    /// A store whose `put` waits until its task is cancelled.
    private struct WaitingStore: ObjectStore {
        let base: LocalObjectStore
        let arrivals: AsyncStream<Void>.Continuation

        func put(_ file: SpooledFile, at key: ObjectKey, contentType: String) async throws {
            arrivals.yield()
            while true { try await Task.sleep(for: .seconds(3600)) }
        }

        func spool() async throws -> SpooledFile { try await base.spool() }
        func delete(_ key: ObjectKey) async throws { try await base.delete(key) }
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

    /// Uploads a file through a server with another store.
    private func upload(to store: any ObjectStore, on host: MessengerHost) async throws {
        let service = MessengerService(
            database: host.database, objects: store, passwords: Passwords(cost: .testing), mailer: TestMailbox(),
            secret: .ofTests(9), group: MultiThreadedEventLoopGroup.ofTests,
            time: host.clock.source)
        let alice = try await host.world().person()
        let file = Upload(.spooled(try await store.spool()), filename: "a.txt")
        _ = try await service.uploadFile(
            Messenger.UploadFile(file), from: alice.id,
            RequestInfo(id: "1", address: ClientAddress("127.0.0.1"), headers: [:]))
    }

    private func rows(of host: MessengerHost) async throws -> Int? {
        try await host.database.read { try $0.value("SELECT COUNT(*) FROM files") }
    }

    /// Only a failure of the store is reported as one, not a client that disconnected or a server that stops.
    @Test func aCancelledUploadIsNoFailureOfTheStore() async throws {
        try await withMessenger(on: Stack(.sqlite, .inProcess)) { host async throws in
            let (arrivals, continuation) = AsyncStream<Void>.makeStream()
            let store = WaitingStore(base: host.objects, arrivals: continuation)
            let uploading = Task { try await upload(to: store, on: host) }
            for await _ in arrivals { break }
            uploading.cancel()
            await #expect(throws: CancellationError.self) { try await uploading.value }
            #expect(try await rows(of: host) == 0)
        }
    }

    @Test func anAbsentStoreIsAnswered503WithRetryAfter() async throws {
        try await withMessenger(on: Stack(.sqlite, .inProcess)) { host async throws in
            // The store was away at the start, so it is not known yet whether it belongs to the database.
            let store = GuardedObjectStore(host.objects)
            let error = await #expect(throws: (any Error).self) { try await upload(to: store, on: host) }
            let problem = Problem.unavailable(try #require(error), Messenger.errorMessages)
            #expect(problem?.status == .serviceUnavailable)
            #expect(problem?.message == "Object storage upload failed")
            #expect(problem?.headers[.retryAfter] == "5")
            #expect(try await rows(of: host) == 0)
        }
    }
}
