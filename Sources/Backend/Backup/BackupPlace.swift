import Crypto
import Foundation
import NIOCore
import ObjectStore

/// A place for backups: a folder, or a bucket.
///
/// It has a folder for each backup in `backups`, and the files that rows name in `objects`, by their digests. So a file
/// that several backups have is there once.
protocol BackupPlace: Sendable {
    /// The place in words for the operator.
    var description: String { get }
    /// A folder on this machine for files that are not complete yet.
    var scratch: String { get }

    /// Reserves the place for the changes of one process, until the value that is returned is released.
    ///
    /// - Throws: ``BackupError`` when another process changes it.
    func reserve() async throws -> any Sendable
    /// Creates a temporary file.
    func spool() async throws -> SpooledFile
    /// Returns the names of complete backups, the oldest first.
    func names() async throws -> [String]
    /// Returns the size of a file in bytes; nil when there is none.
    func size(of path: String) async throws -> Int64?
    /// Stores a complete file, and removes the temporary one. A file that is there already stays.
    func put(_ file: SpooledFile, at path: String) async throws
    /// Returns the path of a file on this machine; nil when the place is elsewhere.
    func localPath(of path: String) -> String?
    /// Opens a file; nil when there is none.
    func open(_ path: String) async throws -> ObjectContent?
    /// Returns the path of the folder for the files of a backup that is not complete yet.
    func draft(of name: String) -> String
    /// Makes a backup visible, whose files are all there.
    func publish(_ name: String) async throws
    /// Removes a backup, complete or not.
    func remove(_ name: String) async throws
    /// Returns the digests of the files in `objects`.
    func digests() async throws -> [String]
    func removeObject(_ digest: String) async throws
    /// Removes what interrupted backups have left.
    func removeLeftovers() async throws
    /// Closes connections.
    func close() async throws
}

extension BackupPlace {
    /// Returns the path of the file with a digest.
    static func object(_ digest: String) -> String { "objects/\(digest.prefix(2))/\(digest)" }

    /// Returns the content of a small file; nil when there is none.
    func bytes(of path: String) async throws -> [UInt8]? {
        guard let content = try await open(path) else { return nil }
        var text: [UInt8] = []
        try await content.send { text += $0.readableBytesView }
        return text
    }

    /// Stores a small file.
    func put(_ bytes: [UInt8], at path: String) async throws {
        let file = try await spool()
        try await file.append(ByteBuffer(bytes: bytes))
        try await file.finish()
        try await put(file, at: path)
    }

    /// Returns the manifest of a backup.
    func manifest(of name: String) async throws -> BackupManifest {
        guard let text = try await bytes(of: "backups/\(name)/manifest.json"),
            let digest = try await bytes(of: "backups/\(name)/manifest.sha256")
        else { throw BackupError("\(description) has no backup \(name)") }
        return try BackupManifest(text, digest: digest, of: name)
    }

    /// Returns a backup's name: the one given, or that of the newest.
    func name(_ given: String?) async throws -> String {
        let names = try await names()
        if let given {
            guard names.contains(given) else {
                throw BackupError("\(description) has no backup \(given): see concord backup list")
            }
            return given
        }
        guard let newest = names.last else { throw BackupError("\(description) has no backups") }
        return newest
    }
}

/// The location of backups, as an operator gives it: the path of a folder, or `s3://bucket/folder?endpoint=…`.
public struct BackupLocation: Sendable, Codable, Equatable {
    /// The text that the operator gave; a folder has its absolute path.
    public let text: String

    /// - Throws: An error whose description is for the operator.
    public init(_ text: String) throws {
        guard text.hasPrefix("s3://") else {
            self.text = URL(fileURLWithPath: text).standardizedFileURL.path
            return
        }
        _ = try S3Location(text)
        self.text = text
    }

    var isBucket: Bool { text.hasPrefix("s3://") }
    /// The place as the audit names it.
    var withoutQuery: Substring { isBucket ? text.prefix { $0 != "?" } : text[...] }

    /// Opens the place.
    ///
    /// - Parameters:
    ///   - scratch: A folder for files that are on their way to a bucket.
    ///   - makes: Whether a folder that does not exist is created.
    func open(environment: [String: String], scratch: String, makes: Bool) throws -> any BackupPlace {
        guard isBucket else { return try FolderPlace(text, makes: makes) }
        return try BucketPlace(
            location: S3Location(text), credentials: S3Credentials(environment: environment), scratch: scratch)
    }
}

/// Copies a content into a temporary file, or counts and hashes it alone.
enum Received {
    /// Writes a content to a new temporary file, which is complete when this returns.
    static func spooled(_ content: ObjectContent, in place: any BackupPlace) async throws -> SpooledFile {
        let file = try await place.spool()
        do {
            try await content.send { try await file.append($0) }
            try await file.finish()
        } catch {
            try? await file.discard()
            throw error
        }
        return file
    }

    /// Returns the size and the digest of a content.
    static func digest(_ content: ObjectContent) async throws -> (size: Int64, sha256: String) {
        var (size, hash) = (Int64(0), SHA256())
        try await content.send { piece in
            size += Int64(piece.readableBytes)
            piece.withUnsafeReadableBytes { hash.update(bufferPointer: $0) }
        }
        return (size, hash.finalize().hexadecimal)
    }
}
