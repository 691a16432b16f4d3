import Backend
import Foundation
import NIOCore
import ObjectStore
import Testbed
import Testing

/// The sweep moves objects that no row names to the trash, once they are old enough.
@Suite(.timeLimit(.minutes(30))) struct SweepTests {
    private static let day: Int64 = 86_400

    /// A store whose objects have the times of this machine's files, and a clock that a test moves.
    private struct Place {
        let folder: String
        let store: LocalObjectStore
        let clock: TestClock
        let names: [String]
        var now: Int64 { clock.source.seconds }

        func left() async throws -> Set<String> { Set(try await store.allKeys()) }

        func sweep(
            olderThan age: Int64 = 3600, keeping known: Set<String>, limits: SweepLimits = .init()
        ) async throws -> SweepReport {
            try await store.sweep(
                olderThan: age, at: now,
                keeping: ObjectReferences(
                    known: { keys in
                        #expect(keys.count <= 500)
                        return known.intersection(keys)
                    }, some: { Array(known.prefix($0)) }),
                limits: limits)
        }
    }

    private func withStore(of count: Int, _ body: (Place) async throws -> Void) async throws {
        try await withTemporaryFolder { folder async throws in
            let clock = TestClock(milliseconds: Int64(Date().timeIntervalSince1970 * 1000) + 2 * Self.day * 1000)
            let store = try LocalObjectStore(
                folder: folder, keys: storeKeys(7), baseURL: "http://test/objects",
                now: { clock.source.seconds })
            let names = (0..<count).map { "uploads/\($0).jpg" }
            for name in names {
                let file = try await store.spool()
                try await file.append(ByteBuffer(string: name))
                try await store.put(file, at: try #require(ObjectKey(name)), contentType: "image/jpeg")
            }
            try await body(Place(folder: folder, store: store, clock: clock, names: names))
        }
    }

    @Test func unreferencedObjectsAreRemoved() async throws {
        try await withStore(of: 40) { place async throws in
            var report = try await place.sweep(olderThan: 3 * Self.day, keeping: [])
            #expect(report == SweepReport())
            #expect(try await place.left() == Set(place.names))
            let known = Set(place.names.prefix(10))
            report = try await place.sweep(keeping: known)
            #expect(report.examined == 40 && report.unreferenced == 30 && report.trashed == 30 && !report.isRefused)
            #expect(try await place.left() == known)
        }
    }

    /// A sweep that would remove more than a hundred objects and more than a tenth of all removes none, unless the
    /// operator has allowed it.
    @Test func aSweepThatWouldRemoveTooMuchRemovesNothing() async throws {
        try await withStore(of: 300) { place async throws in
            for known in [[], Set(place.names.prefix(199))] {
                let report = try await place.sweep(keeping: known)
                #expect(report.isRefused && report.trashed == 0)
                #expect(report.examined == 300 && report.unreferenced == 300 - known.count)
                #expect(try await place.left() == Set(place.names))
            }
            var report = try await place.sweep(keeping: Set(place.names.prefix(200)))
            #expect(report.trashed == 100 && !report.isRefused)
            report = try await place.sweep(keeping: [], limits: .none)
            #expect(report.trashed == 200 && !report.isRefused)
            #expect(try await place.left() == [])
        }
    }

    /// A tenth of the objects may be more than a hundred.
    @Test func aTenthOfManyMayBeRemoved() async throws {
        try await withStore(of: 1500) { place async throws in
            let report = try await place.sweep(keeping: Set(place.names.dropFirst(150)))
            #expect(report.examined == 1500 && report.trashed == 150 && !report.isRefused)
        }
    }

    @Test func removedObjectsStayInTheTrashForAWeek() async throws {
        try await withStore(of: 3) { place async throws in
            let trash = place.folder + "/trash"
            #expect(try await place.sweep(keeping: []).trashed == 3)
            func files() -> [String] {
                (FileManager.default.enumerator(atPath: trash)?.compactMap { $0 as? String } ?? []).filter {
                    $0.hasSuffix(".jpg")
                }
            }
            #expect(files().count == 3)
            place.clock.advance(by: .seconds(6 * Self.day))
            #expect(try await place.sweep(keeping: []).removed == 0)
            #expect(files().count == 3)
            // The day on which the objects were stored must have ended, too.
            place.clock.advance(by: .seconds(2 * Self.day))
            #expect(try await place.sweep(keeping: []).removed == 3)
            #expect(files() == [])
        }
    }

    /// A row may be inserted between the first look and the removal, which may be hours apart.
    @Test func objectsThatGetARowMeanwhileStay() async throws {
        try await withStore(of: 5) { place async throws in
            let report = try await place.store.sweep(
                olderThan: 3600, at: place.now,
                keeping: ObjectReferences(
                    known: { keys in
                        // A page has one or two of the objects; the last look has all five.
                        keys.count == 5 ? ["uploads/2.jpg"] : []
                    }, some: { _ in [] }))
            #expect(report.unreferenced == 5 && report.trashed == 4)
            #expect(try await place.left() == ["uploads/2.jpg"])
        }
    }
}
