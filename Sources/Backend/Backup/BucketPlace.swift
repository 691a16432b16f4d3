import Foundation
import NIOConcurrencyHelpers
import ObjectStore

/// Backups in a folder of a bucket. The manifest is stored last, and without one a backup is not listed.
struct BucketPlace: BackupPlace {
    private static let taken = NIOLockedValueBox<Set<String>>([])

    private let store: S3ObjectStore
    private let location: S3Location
    let scratch: String

    init(location: S3Location, credentials: S3Credentials, scratch: String) throws {
        self.location = location
        self.scratch = scratch
        store = try S3ObjectStore(
            location: location, credentials: credentials, spoolFolder: scratch, now: { TimeSource.system.seconds })
    }

    var description: String { "the bucket \(location.bucket)/\(location.prefix)" }

    /// A reservation within this process; S3 has no locks.
    private final class Reservation: Sendable {
        let place: String

        init(_ place: String) throws {
            let isFree = BucketPlace.taken.withLockedValue { $0.insert(place).inserted }
            guard isFree else { throw BackupError("Another backup is being made there") }
            self.place = place
        }

        deinit { _ = BucketPlace.taken.withLockedValue { $0.remove(place) } }
    }

    func reserve() async throws -> any Sendable { try Reservation(description) }

    func spool() async throws -> SpooledFile { try await store.spool() }

    func names() async throws -> [String] {
        try await store.keys(under: "backups/").compactMap { key in
            let parts = key.rawValue.split(separator: "/")
            return parts.count == 3 && parts[2] == "manifest.json" ? String(parts[1]) : nil
        }.sorted()
    }

    func size(of path: String) async throws -> Int64? { try await store.size(of: key(path)) }

    func put(_ file: SpooledFile, at path: String) async throws {
        do {
            try await store.put(file, at: key(path), contentType: "application/octet-stream")
        } catch ObjectStoreError.exists {
            try await file.discard()
        }
    }

    func localPath(of path: String) -> String? { nil }

    func open(_ path: String) async throws -> ObjectContent? { try await store.openKept(key(path))?.content }

    func draft(of name: String) -> String { "backups/\(name)" }
    func publish(_ name: String) async throws {}

    func remove(_ name: String) async throws {
        // A backup that is removed half way must not look complete.
        try await store.delete(key("backups/\(name)/manifest.json"))
        for key in try await store.keys(under: "backups/\(name)/") { try await store.delete(key) }
    }

    func digests() async throws -> [String] {
        try await store.keys(under: "objects/").compactMap { $0.rawValue.split(separator: "/").last.map(String.init) }
    }

    func removeObject(_ digest: String) async throws { try await store.delete(key(Self.object(digest))) }

    func removeLeftovers() async throws {
        let complete = Set(try await names())
        for key in try await store.keys(under: "backups/") {
            let name = String(key.rawValue.split(separator: "/")[1])
            if !complete.contains(name) { try await store.delete(key) }
        }
    }

    func close() async throws { try await store.close() }

    private func key(_ path: String) throws -> ObjectKey {
        guard let key = ObjectKey(path) else { throw BackupError("'\(path)' cannot be a name in a bucket") }
        return key
    }
}
