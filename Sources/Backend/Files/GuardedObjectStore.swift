import NIOConcurrencyHelpers
import ObjectStore

/// A store that may be unreachable at the start. Nothing is written to it or removed from it before it is known to
/// belong to the database (``StorePairing``). Reads need not wait for that.
public final class GuardedObjectStore: ObjectStore {
    /// The store itself, for pairing it and for closing it.
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

    @concurrent public func keepingDeleted<T>(_ body: @concurrent () async throws -> T) async throws -> T {
        try await store.keepingDeleted(body)
    }

    public func openKept(_ key: ObjectKey) async throws -> StoredObject? { try await store.openKept(key) }

    public func uploadURL(for key: ObjectKey, upTo size: Int64, expiresIn seconds: Int64) throws -> String {
        // An upload here overwrites nothing that a row names: the row is only written at the confirmation.
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

/// The error of a write to a store that has been unreachable since the start: it is not known yet whether it belongs to
/// the database.
public struct StoreNotPaired: Error, CustomStringConvertible {
    public var description: String {
        "the object store has not been reachable yet, so it is not known whether it belongs to the database"
    }
}
