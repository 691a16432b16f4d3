public import Crypto
import Foundation
import NIOPosix

/// Stores objects as files in a folder. This process serves them under signed URLs that expire.
///
/// `<folder>/uploads` has the unfinished uploads and `<folder>/objects` the objects (see ``ObjectLayout``), on one file
/// system. Only the owner of the process can read them. A used key cannot be replaced, even when several processes
/// share the folder.
public struct LocalObjectStore: ObjectStore {
    private static let abandonedAfter: Int64 = 86_400

    let layout: ObjectLayout
    private let uploads: String
    private let base: @Sendable () -> String
    let signedURL: SignedURL
    let now: @Sendable () -> Int64
    /// The folder of this store alone.
    let folder: String
    private let reserve: DiskReserve?
    let threads: NIOThreadPool
    let hold = DeletionHold()

    /// Creates missing folders, and removes uploads that were not written to for a day.
    ///
    /// It blocks and is meant for the start. It throws ``FileSystemError`` or an error of `FileManager`.
    /// - Parameters:
    ///   - folder: The path of this store's folder.
    ///   - keys: Returns the key that signs the URLs, of 32 bytes or more, which no other store has; and then a former
    ///     one that is still accepted, if there is one.
    ///   - baseURL: The absolute URL to which keys are appended, without a query: `http://localhost:8080/objects`. It is
    ///     evaluated for each URL.
    ///   - now: Returns the time in Unix seconds.
    ///   - reserve: The space that uploads leave free on the disk; nil for none.
    ///   - threads: The threads that wait for the file system.
    public init(
        folder: String, keys: @escaping @Sendable () -> [SymmetricKey],
        baseURL: @autoclosure @escaping @Sendable () -> String,
        reserve: DiskReserve? = nil, now: @escaping @Sendable () -> Int64, threads: NIOThreadPool = .singleton
    ) throws {
        self.folder = folder
        self.layout = ObjectLayout(root: folder + "/objects")
        self.uploads = folder + "/uploads"
        self.base = baseURL
        self.signedURL = SignedURL(keys: keys)
        self.now = now
        self.reserve = reserve
        self.threads = threads
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try FileSystem.createDirectory(layout.root)
        try FileSystem.createDirectory(uploads)
        try FileSystem.synchronizeDirectory(folder)
        try SpooledFile.removeAbandoned(in: uploads, olderThan: now() - Self.abandonedAfter)
    }

    /// The URL to which keys are appended, without a slash at its end.
    var baseURL: String {
        let url = base()
        return url.hasSuffix("/") ? String(url.dropLast()) : url
    }

    public func spool() async throws -> SpooledFile {
        try await SpooledFile(folder: uploads, reserve: reserve, threads: threads)
    }

    /// Stores an object. The content type is not stored, because the URL contains it.
    public func put(_ file: SpooledFile, at key: ObjectKey, contentType: String) async throws {
        try await place(file, at: key) { path, name in
            guard try FileSystem.link(path, name) else { throw ObjectStoreError.exists(key) }
        }
    }

    /// Moves `file` into the store under `key`, replacing an existing object, for an upload to which no row refers yet.
    /// A reader that has opened the former object can read it to its end.
    public func replace(_ key: ObjectKey, by file: SpooledFile) async throws {
        try await place(file, at: key) { path, name in try FileSystem.rename(path, name) }
    }

    private func place(
        _ file: SpooledFile, at key: ObjectKey,
        _ give: @escaping @Sendable (_ path: String, _ name: String) throws -> Void
    ) async throws {
        try await threads.blocking { [layout] in
            try file.finishBlocking()
            // The content is on the disk before the object has its name, and the name before this returns.
            let components = layout.components(of: key)
            var folder = layout.root
            for component in components.dropLast() {
                let parent = folder
                folder += "/" + component
                if try FileSystem.createDirectory(folder) { try FileSystem.synchronizeDirectory(parent) }
            }
            try give(file.path, layout.path(of: key))
            try FileSystem.synchronizeDirectory(folder)
            try file.discardBlocking()
        }
    }

    public func delete(_ key: ObjectKey) async throws {
        let day = StoreNames.day(of: now())
        if hold.note(key, day: day) { return try await discard(key, on: day) }
        try await threads.blocking { [layout] in try FileSystem.remove(layout.path(of: key)) }
    }

    public func attributes(of key: ObjectKey) async throws -> ObjectAttributes? {
        try await threads.blocking { [layout] in
            try FileSystem.attributes(of: layout.path(of: key)).map {
                ObjectAttributes(size: $0.size, modified: $0.modified)
            }
        }
    }

    public func content(of key: ObjectKey, in range: Range<Int64>) async throws -> [UInt8]? {
        try await threads.blocking { [layout] in try FileSystem.content(of: layout.path(of: key), in: range) }
    }

    /// Opens an object. The file stays open until all of it has been sent, so a concurrent deletion truncates nothing.
    public func open(_ key: ObjectKey, in range: Range<Int64>) async throws -> ObjectContent? {
        let path = layout.path(of: key)
        let file: OpenFile
        do {
            file = try await threads.blocking { try OpenFile(path) }
        } catch let error as FileSystemError where error.isAbsence {
            return nil
        }
        return content(of: file, in: range)
    }

    func content(of file: OpenFile, in range: Range<Int64>) -> ObjectContent {
        ObjectContent { [threads] write in
            var offset = range.lowerBound
            while offset < range.upperBound {
                let count = Int(min(range.upperBound - offset, Int64(FileChunks.size)))
                let piece = try await threads.blocking { [offset] in try file.piece(at: offset, upTo: count) }
                guard piece.readableBytes > 0 else { throw ObjectContent.CutShort() }
                offset += Int64(piece.readableBytes)
                try await write(piece)
            }
        }
    }

    /// Returns a page of keys, which is a 256th of the store. The cursor is the name of its folder.
    public func keys(olderThan cutoff: Int64, after cursor: String?) async throws -> ObjectKeyPage {
        let shards = ObjectLayout.shards
        guard let shard = shards.first(where: { $0 > cursor ?? "" }) else { return ObjectKeyPage(keys: [], next: nil) }
        let keys = try await threads.blocking { [layout] in try layout.keys(in: shard, olderThan: cutoff) }
        return ObjectKeyPage(keys: keys, next: shard == shards.last ? nil : shard)
    }

    public func downloadURL(for key: ObjectKey, as download: Download, expiresIn seconds: Int64) throws -> String {
        signedURL.url(baseURL, key, as: download, expires: SignedURL.end(after: seconds, at: now()))
    }

    /// Creates and removes a file.
    public func check() async throws {
        // An upload is not used for this, because readiness does not depend on the reserve.
        try await SpooledFile(folder: uploads, threads: threads).discard()
    }

    /// Checks that the folders can be written to.
    public func reach() async throws {
        try await threads.blocking { [layout, uploads] in
            for folder in [layout.root, uploads] { try FileSystem.requireWritable(folder) }
        }
    }
}
