/// Stores uploaded files. Objects are written once, as a whole, and never change.
///
/// The operations throw ``ObjectStoreError`` when a caller can act on the error. Any other error (``FileSystemError``)
/// means that the store is not available now.
public protocol ObjectStore: Sendable {
    /// Creates an empty temporary file, on the storage from which ``put(_:at:contentType:)`` is cheapest.
    func spool() async throws -> SpooledFile

    /// Moves `file`, which is finished first if it was not, into the store under `key`. When this returns, the object
    /// is durable and the file is gone. When this throws, the file is unchanged.
    ///
    /// The store may record `contentType` with the object; a download has its own. An existing object is not replaced:
    /// ``ObjectStoreError/exists(_:)`` is thrown.
    func put(_ file: SpooledFile, at key: ObjectKey, contentType: String) async throws

    /// Removes the object; succeeds when there is none.
    func delete(_ key: ObjectKey) async throws

    /// Returns the object's size and time, or nil when there is none.
    func attributes(of key: ObjectKey) async throws -> ObjectAttributes?

    /// Returns a range of the object's bytes, fewer when it ends before, or nil when there is no object. They are in
    /// memory as a whole, so a large object should be read in pieces.
    func content(of key: ObjectKey, in range: Range<Int64>) async throws -> [UInt8]?

    /// Opens the object to send these of its bytes, or returns nil when there is none. The range lies within its size.
    func open(_ key: ObjectKey, in range: Range<Int64>) async throws -> ObjectContent?

    /// Returns the id of this store, which its database has, too; nil while it has none.
    func identity() async throws -> String?

    /// Gives an id to a store that has none, and returns whether it had none. Of several concurrent calls, one
    /// succeeds.
    func identify(as id: String) async throws -> Bool

    /// Moves an object to the store's trash, from which ``emptyTrash(before:)`` removes it; succeeds when there is
    /// none. Objects in the trash are neither listed nor served.
    func discard(_ key: ObjectKey) async throws

    /// Removes objects that were moved to the trash before `cutoff` (Unix seconds), whole days at a time. Returns their
    /// number.
    func emptyTrash(before cutoff: Int64) async throws -> Int

    /// Runs a closure, during which every object that there is can be read with ``openKept(_:)``: deleted objects are
    /// moved to the trash, and none leaves it. Afterwards the objects that were deleted meanwhile are removed.
    ///
    /// It holds for deletions by this process.
    func keepingDeleted<T>(_ body: () async throws -> T) async throws -> T

    /// Opens a whole object, also one that is in the trash; nil when it is in neither place.
    func openKept(_ key: ObjectKey) async throws -> StoredObject?

    /// Returns a page of the keys of objects that were written before `cutoff` (Unix seconds), to find those without a
    /// row.
    ///
    /// The first cursor is nil, and further ones are ``ObjectKeyPage/next``, until that is nil; pages may be empty.
    /// Keys are in no particular order. Objects that are added or deleted in the meantime may or may not appear.
    func keys(olderThan cutoff: Int64, after cursor: String?) async throws -> ObjectKeyPage

    /// Returns an absolute URL that serves the object to a GET without credentials for `seconds` from now, under the
    /// name and type of `download`. It is not checked whether the object exists.
    func downloadURL(for key: ObjectKey, as download: Download, expiresIn seconds: Int64) throws -> String

    /// Returns an absolute URL that accepts a PUT of the object without credentials for `seconds` from now. The body
    /// must not have more than `size` bytes; a store may demand exactly as many.
    func uploadURL(for key: ObjectKey, upTo size: Int64, expiresIn seconds: Int64) throws -> String

    /// Checks that objects can be written now, for readiness probes.
    func check() async throws

    /// Checks that the store answers now, without writing anything.
    func reach() async throws
}

extension ObjectStore {
    /// Returns the object's size in bytes, or nil when there is none.
    public func size(of key: ObjectKey) async throws -> Int64? { try await attributes(of: key)?.size }
}

/// A page of the store's keys.
public struct ObjectKeyPage: Sendable, Equatable {
    /// The keys of this page, which may be empty although there is a next one.
    public var keys: [ObjectKey]
    /// The cursor of the next page; nil after the last one.
    public var next: String?

    /// Makes a page.
    public init(keys: [ObjectKey], next: String?) {
        self.keys = keys
        self.next = next
    }
}

/// The errors on which a caller of ``ObjectStore`` can act.
public enum ObjectStoreError: Error, Equatable, CustomStringConvertible {
    /// Another object has this key already.
    case exists(ObjectKey)
    /// The file or object for the store's id, at this place, has other content.
    case damagedIdentity(String)

    /// The description of the error.
    public var description: String {
        switch self {
        case .exists(let key): "there is an object \(key) already"
        case .damagedIdentity(let place):
            "\(place) does not hold the id of a store. Put it back from a backup, or remove it: a start then looks whether "
                + "the database names what is stored"
        }
    }
}
