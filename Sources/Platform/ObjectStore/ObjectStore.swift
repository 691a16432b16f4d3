/// Where uploaded files live. Objects are written once, as a whole, and never change.
///
/// Errors: ``ObjectStoreError`` where a caller can act on them; anything else (``FileSystemError``) means that the
/// store is not available now.
public protocol ObjectStore: Sendable {
    /// An empty temporary file, on storage from which ``put(_:at:contentType:)`` is cheapest.
    func spool() async throws -> SpooledFile

    /// Moves `file`, which is finished first if it was not, into the store under `key`. The object is durable when
    /// this returns, and the file is gone. If this throws, the file is unchanged.
    ///
    /// `contentType` is what the store may record beside the object; a download states its own.
    /// Throws ``ObjectStoreError/exists(_:)`` rather than replace an object.
    func put(_ file: SpooledFile, at key: ObjectKey, contentType: String) async throws

    /// Removes the object; succeeds when there is none.
    func delete(_ key: ObjectKey) async throws

    /// Returns the object's size and time, or nil when there is none.
    func attributes(of key: ObjectKey) async throws -> ObjectAttributes?

    /// Some of the object's bytes, fewer where it ends before, or nil when there is no object. They are in memory as a
    /// whole: a large object is read in pieces.
    func content(of key: ObjectKey, in range: Range<Int64>) async throws -> [UInt8]?

    /// Opens the object to send these of its bytes, or returns nil when there is none. The range lies within its size.
    func open(_ key: ObjectKey, in range: Range<Int64>) async throws -> ObjectContent?

    /// The id that tells this store from others, which its database holds too; nil while it has none.
    func identity() async throws -> String?

    /// Gives a store that has no id this one. Returns whether it had none: of several callers at once, one succeeds.
    func identify(as id: String) async throws -> Bool

    /// Moves an object to the store's trash, from where it is removed by ``emptyTrash(before:)``; succeeds when there is
    /// none. What is in the trash is no object: it is neither listed nor served.
    func discard(_ key: ObjectKey) async throws

    /// Removes what has been in the trash since before `cutoff` (Unix seconds), whole days at a time. Returns how many
    /// objects that were.
    func emptyTrash(before cutoff: Int64) async throws -> Int

    /// One page of the keys of objects written before `cutoff` (Unix seconds), to find those no row refers to.
    ///
    /// Start with nil and go on with ``ObjectKeyPage/next`` until that is nil; a page may be empty before. Keys
    /// come in no particular order. Objects put or deleted meanwhile may or may not appear.
    func keys(olderThan cutoff: Int64, after cursor: String?) async throws -> ObjectKeyPage

    /// An absolute URL that serves the object to a GET without credentials for `seconds` from now, under the name
    /// and type of `download`. Whether the object exists is not checked.
    func downloadURL(for key: ObjectKey, as download: Download, expiresIn seconds: Int64) throws -> String

    /// An absolute URL that takes a PUT of the object without credentials for `seconds` from now. The body must not have
    /// more than `size` bytes; a store may insist on exactly as many.
    func uploadURL(for key: ObjectKey, upTo size: Int64, expiresIn seconds: Int64) throws -> String

    /// Returns if objects can be written now; for readiness probes.
    func check() async throws

    /// Returns if the store answers now. Writes nothing.
    func reach() async throws
}

extension ObjectStore {
    /// Returns the object's size in bytes, or nil when there is none.
    public func size(of key: ObjectKey) async throws -> Int64? { try await attributes(of: key)?.size }
}

/// A part of the store's keys.
public struct ObjectKeyPage: Sendable, Equatable {
    /// The keys of this part; may be empty although there is a next one.
    public var keys: [ObjectKey]
    /// What to pass to get the next page, opaque; nil after the last one.
    public var next: String?

    /// A page with what follows it.
    public init(keys: [ObjectKey], next: String?) {
        self.keys = keys
        self.next = next
    }
}

/// What a caller of ``ObjectStore`` can act on.
public enum ObjectStoreError: Error, Equatable, CustomStringConvertible {
    /// Another object has this key already.
    case exists(ObjectKey)
    /// What should hold the store's id holds something else; where that is.
    case damagedIdentity(String)

    /// What happened, in words.
    public var description: String {
        switch self {
        case .exists(let key): "there is an object \(key) already"
        case .damagedIdentity(let place):
            "\(place) does not hold the id of a store. Put it back from a backup, or remove it: a start then looks whether "
                + "the database names what is stored"
        }
    }
}
