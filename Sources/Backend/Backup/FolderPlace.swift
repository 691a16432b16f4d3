import Foundation
import NIOCore
import NIOPosix
import ObjectStore

/// Backups in a folder. One that is being made is in a hidden folder, which gets its name at the end.
struct FolderPlace: BackupPlace {
    let root: String
    private let makes: Bool
    var description: String { "the folder \(root)" }
    var scratch: String { root + "/.scratch" }
    private let threads = NIOThreadPool.singleton

    init(_ root: String, makes: Bool) throws {
        self.root = root
        self.makes = makes
        var isFolder: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: root, isDirectory: &isFolder)
        guard exists ? isFolder.boolValue : makes else {
            throw BackupError(exists ? "\(root) is not a folder" : "There is no folder \(root)")
        }
        guard makes else { return }
        do {
            for folder in ["", "/backups", "/objects", "/.scratch"] { try Self.make(root + folder) }
        } catch {
            // The error's own text names neither the user nor the system's reason.
            throw BackupError("Backups cannot be written to \(root) \(Self.refusal(errno))")
        }
    }

    /// Returns whose permission is missing: the server's user writes the backups, and not the user who types the command.
    private static func refusal(_ code: Int32) -> String {
        let user = getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) } ?? "\(geteuid())"
        let unit =
            code == EROFS
            ? """
            . A service of systemd may write to the folders alone that its unit names: add ReadWritePaths=, or choose one \
            of those
            """ : ""
        return "by the user \(user): \(String(cString: strerror(code)))\(unit)"
    }

    private static func make(_ folder: String) throws {
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    /// A lock on a file, which ends with the last reference to it.
    private final class Lock: Sendable {
        let descriptor: Int32

        init(_ path: String) throws {
            descriptor = Foundation.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw BackupError("\(path): \(String(cString: strerror(errno)))") }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                Foundation.close(descriptor)
                throw BackupError("Another process is changing the backups there")
            }
        }

        deinit { Foundation.close(descriptor) }
    }

    func reserve() async throws -> any Sendable { try Lock(root + "/lock") }

    func spool() async throws -> SpooledFile { try await SpooledFile(folder: scratch) }

    func names() async throws -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: root + "/backups")) ?? []
        return names.filter {
            !$0.hasPrefix(".") && FileManager.default.fileExists(atPath: "\(root)/backups/\($0)/manifest.json")
        }.sorted()
    }

    func size(of path: String) async throws -> Int64? {
        var status = stat()
        return lstat("\(root)/\(path)", &status) == 0 ? Int64(status.st_size) : nil
    }

    func put(_ file: SpooledFile, at path: String) async throws {
        try await file.finish()
        try await threads.runIfActive { [root] in
            let target = "\(root)/\(path)"
            let folder = target[..<(target.lastIndex(of: "/") ?? target.endIndex)]
            try Self.make(String(folder))
            guard rename(file.path, target) == 0 else { throw Self.failure(target) }
            try Self.synchronize(String(folder))
        }
        try await file.discard()
    }

    func localPath(of path: String) -> String? { "\(root)/\(path)" }

    func open(_ path: String) async throws -> ObjectContent? {
        guard let handle = FileHandle(forReadingAtPath: "\(root)/\(path)") else { return nil }
        return ObjectContent { [threads] write in
            defer { try? handle.close() }
            while true {
                let piece = try await threads.runIfActive { try handle.read(upToCount: 1 << 18) }
                guard let piece, !piece.isEmpty else { return }
                try await write(ByteBuffer(bytes: piece))
            }
        }
    }

    func draft(of name: String) -> String { "backups/.\(name).partial" }

    func publish(_ name: String) async throws {
        let (draft, final) = ("\(root)/\(draft(of: name))", "\(root)/backups/\(name)")
        try Self.synchronize(draft)
        guard rename(draft, final) == 0 else { throw Self.failure(final) }
        try Self.synchronize(root + "/backups")
    }

    func remove(_ name: String) async throws {
        let draft = "\(root)/\(draft(of: name))"
        // A backup that is removed half way must not look complete.
        if rename("\(root)/backups/\(name)", draft) != 0, errno != ENOENT { throw Self.failure(draft) }
        if FileManager.default.fileExists(atPath: draft) { try FileManager.default.removeItem(atPath: draft) }
    }

    func digests() async throws -> [String] {
        let manager = FileManager.default
        return try await threads.runIfActive { [root] in
            let folders = (try? manager.contentsOfDirectory(atPath: root + "/objects")) ?? []
            return folders.flatMap { (try? manager.contentsOfDirectory(atPath: "\(root)/objects/\($0)")) ?? [] }
        }
    }

    func removeObject(_ digest: String) async throws {
        guard unlink("\(root)/\(Self.object(digest))") == 0 || errno == ENOENT else { throw Self.failure(digest) }
    }

    func removeLeftovers() async throws {
        let manager = FileManager.default
        for name in try manager.contentsOfDirectory(atPath: scratch) {
            try manager.removeItem(atPath: "\(scratch)/\(name)")
        }
        for name in try manager.contentsOfDirectory(atPath: root + "/backups") where name.hasSuffix(".partial") {
            try manager.removeItem(atPath: "\(root)/backups/\(name)")
        }
    }

    func close() async throws {
        // Root makes a backup by itself while the server is stopped; the server makes the next one.
        if makes { PrivateFiles.giveToOwner(root) }
    }

    private static func synchronize(_ folder: String) throws {
        let descriptor = Foundation.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(folder) }
        defer { Foundation.close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure(folder) }
    }

    private static func failure(_ path: String) -> BackupError {
        BackupError("\(path): \(String(cString: strerror(errno)))")
    }
}
