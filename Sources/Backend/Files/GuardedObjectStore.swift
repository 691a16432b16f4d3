import NIOConcurrencyHelpers
import ObjectStore

/// A store that may be away at the start: nothing is written to it, nor removed from it, before it is known to belong to
/// the database (``StorePairing``). What reads it needs not wait for that.
public final class GuardedObjectStore: ObjectStore {
    /// The store itself, to be paired and to be closed.
    public let store: any ObjectStore
    private let isOpen = NIOLockedValueBox(false)

    public init(_ store: any ObjectStore) { self.store = store }

    /// Lets writes through from now on.
    public func unlock() { isOpen.withLockedValue { $0 = true } }

    private func requireOpen() throws {
        guard isOpen.withLockedValue({ $0 }) else { throw StoreNotPaired() }
    }

    public func put(_ file: SpooledFile, at key: ObjectKey, contentType: String) async throws {
        try requireOpen()
        try await store.put(file, at: key, contentType: contentType)
    }

    public func delete(_ key: ObjectKey) async throws {
        try requireOpen()
        try await store.delete(key)
    }

    public func discard(_ key: ObjectKey) async throws {
        try requireOpen()
        try await store.discard(key)
    }

    public func emptyTrash(before cutoff: Int64) async throws -> Int {
        try requireOpen()
        return try await store.emptyTrash(before: cutoff)
    }

    public func uploadURL(for key: ObjectKey, upTo size: Int64, expiresIn seconds: Int64) throws -> String {
        // A client that puts something there takes nothing away, and a row comes with the confirmation only.
        try store.uploadURL(for: key, upTo: size, expiresIn: seconds)
    }

    public func check() async throws {
        try await store.check()
        try requireOpen()
    }

    public func reach() async throws { try await store.reach() }
    public func spool() async throws -> SpooledFile { try await store.spool() }
    public func attributes(of key: ObjectKey) async throws -> ObjectAttributes? {
        try await store.attributes(of: key)
    }
    public func open(_ key: ObjectKey, in range: Range<Int64>) async throws -> ObjectContent? {
        try await store.open(key, in: range)
    }
    public func content(of key: ObjectKey, in range: Range<Int64>) async throws -> [UInt8]? {
        try await store.content(of: key, in: range)
    }
    public func keys(olderThan cutoff: Int64, after cursor: String?) async throws -> ObjectKeyPage {
        try await store.keys(olderThan: cutoff, after: cursor)
    }
    public func downloadURL(for key: ObjectKey, as download: Download, expiresIn seconds: Int64) throws -> String {
        try store.downloadURL(for: key, as: download, expiresIn: seconds)
    }
    public func identity() async throws -> String? { try await store.identity() }
    public func identify(as id: String) async throws -> Bool {
        try requireOpen()
        return try await store.identify(as: id)
    }
}

/// The store has been away since the start, so that nobody knows yet whether it is the right one.
public struct StoreNotPaired: Error, CustomStringConvertible {
    public var description: String { "the object store could not be asked yet whether it belongs to the database" }
}
