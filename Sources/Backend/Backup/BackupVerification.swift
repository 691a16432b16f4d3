import Crypto
import Database
import Foundation
import ObjectStore

/// Verifies that a backup can be restored: every file has its digest, and every database can be read.
struct BackupVerification: Sendable {
    let place: any BackupPlace
    var tools = PostgreSQLTools()
    let show: @Sendable (_ done: Int, _ total: Int) async -> Void

    /// Verifies a backup.
    ///
    /// - Returns: A sentence for each thing that is wrong.
    /// - Throws: ``BackupError`` when the manifest cannot be read; the errors of the place.
    func findings(in name: String) async throws -> [String] {
        let manifest = try await place.manifest(of: name)
        var found: [String] = []
        for api in manifest.apis {
            do {
                try await withCopy(of: api.database, in: name) { path in
                    try await DatabaseCopy(path: path, engine: manifest.engine).verify(rows: api.rows, using: tools)
                }
            } catch let error as BackupError {
                found.append(error.description)
            } catch let error as DatabaseDamage {
                found.append("\(api.database.path) is damaged: \(error.reason)")
            } catch let error as PostgreSQLToolError {
                found.append("\(api.database.path): \(error)")
            }
        }
        for key in manifest.keys {
            let path = "backups/\(name)/\(key.path)"
            if let finding = try await finding(path, key.path, key.size, key.sha256) { found.append(finding) }
        }
        return try await found + findings(amongFilesOf: manifest)
    }

    private func findings(amongFilesOf manifest: BackupManifest) async throws -> [String] {
        var findings: [String] = []
        var (seen, done): (Set<String>, Int) = ([], 0)
        let total = manifest.fileCount
        for api in manifest.apis {
            for file in api.files {
                done += 1
                if done % 16 == 0 || done == total { await show(done, total) }
                guard seen.insert(file.sha256).inserted else { continue }
                let path = type(of: place).object(file.sha256)
                let name = "\(path), which is \(file.key) of \(api.name),"
                if let finding = try await finding(path, name, file.size, file.sha256) { findings.append(finding) }
            }
        }
        return findings
    }

    /// Returns what is wrong with a file.
    private func finding(_ path: String, _ name: String, _ size: Int64, _ sha256: String) async throws -> String? {
        guard let content = try await place.open(path) else { return "\(name) is missing" }
        do {
            let found = try await Received.digest(content)
            if found.size == size, found.sha256 == sha256 { return nil }
            return "\(name) is damaged: it does not have its digest"
        } catch is ObjectContent.CutShort {
            return "\(name) is damaged: it ends early"
        }
    }

    /// Runs a closure with the path of a backup's database on this machine. The file has its digest.
    ///
    /// - Throws: ``BackupError`` when it is missing or damaged.
    func withCopy<T>(
        of item: BackupManifest.Item, in name: String, _ body: (_ path: String) async throws -> T
    ) async throws -> T {
        let path = "backups/\(name)/\(item.path)"
        if let local = place.localPath(of: path) {
            if let finding = try await finding(path, item.path, item.size, item.sha256) { throw BackupError(finding) }
            return try await body(local)
        }
        guard let content = try await place.open(path) else { throw BackupError("\(item.path) is missing") }
        let copy = "\(place.scratch)/\(UUID().uuidString)"
        defer { unlink(copy) }
        try await Self.write(content, item, to: copy)
        return try await body(copy)
    }

    /// Writes a file of a backup to a path, where it is on the disk when this returns.
    ///
    /// - Throws: ``BackupError`` when it does not have its digest.
    static func write(_ content: ObjectContent, _ item: BackupManifest.Item, to path: String) async throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw BackupError("\(path): \(String(cString: strerror(errno)))") }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var (size, hash) = (Int64(0), SHA256())
        try await content.send { piece in
            try handle.write(contentsOf: piece.readableBytesView)
            size += Int64(piece.readableBytes)
            piece.withUnsafeReadableBytes { hash.update(bufferPointer: $0) }
        }
        guard size == item.size, hash.finalize().hexadecimal == item.sha256 else {
            throw BackupError("\(item.path) is damaged: it does not have its digest")
        }
        try handle.synchronize()
    }
}
