import Database
import Foundation
import Logging
import NIOCore
import ObjectStore

/// Makes one backup.
struct BackupJob: Sendable {
    let source: BackupSource
    let place: any BackupPlace
    /// The newest backups that are kept, this one among them; nil for all.
    let keep: Int?
    /// Writes a line for the operator.
    let report: @Sendable (String) async throws -> Void
    /// Shows how much of a step is done.
    let show: @Sendable (_ done: Int, _ total: Int) async -> Void

    /// Makes the backup. It becomes visible when it is complete.
    ///
    /// - Throws: ``BackupError`` and other errors whose descriptions are for the operator.
    /// - Returns: The backup's name.
    func run() async throws -> (name: String, manifest: BackupManifest) {
        let reservation = try await place.reserve()
        defer { withExtendedLifetime(reservation) {} }
        try await place.removeLeftovers()
        let before = try await place.names()
        let name = Self.name(at: Date(), besides: before)
        do {
            let manifest = try await make(name, after: before.last)
            if let keep { try await BackupPruning(place: place).keep(keep) }
            return (name, manifest)
        } catch {
            if try await !place.names().contains(name) { try? await place.remove(name) }
            throw error
        }
    }

    /// Returns the name of a backup: its time in UTC, such as `2026-11-23T031500Z`.
    private static func name(at time: Date, besides others: [String]) -> String {
        var time = time
        while others.contains(time.formatted(nameStyle)) { time += 1 }
        return time.formatted(nameStyle)
    }

    static let nameStyle = Date.ISO8601FormatStyle(timeSeparator: .omitted)

    private func make(_ name: String, after previous: String?) async throws -> BackupManifest {
        let (began, clock) = (Date(), ContinuousClock.now)
        var known: [String: [BackupManifest.StoredFile]] = [:]
        if let previous, let manifest = try? await place.manifest(of: previous) {
            for api in manifest.apis { known[api.name] = api.files }
        }
        var apis: [BackupManifest.API] = []
        for api in source.known {
            let copied = try await source.open(api) { [known] part in
                try await copy(part, to: name, known: known[api.name] ?? [])
            }
            if let copied { apis.append(copied) }
        }
        guard !apis.isEmpty else {
            throw BackupError("\(source.settings.folder) has no database: is it the server's data folder (--data)?")
        }
        var keys: [BackupManifest.Item] = []
        for key in source.keyFiles {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(source.settings.folder)/keys/\(key)"))
            let file = try await place.spool()
            try await file.append(ByteBuffer(bytes: [UInt8](bytes)))
            keys.append(try await store(file, at: "keys/\(key)", of: name))
        }
        var manifest = BackupManifest(
            concord: source.settings.version, made: began, seconds: 0, engine: source.engine, apis: apis, keys: keys,
            keysInEnvironment: source.keysInEnvironment)
        manifest.seconds = (ContinuousClock.now - clock) / .milliseconds(1) / 1000
        let bytes = try manifest.encoded()
        let digest = "\(SHA256Text.of(bytes))  manifest.json\n"
        try await place.put(Array(digest.utf8), at: "\(place.draft(of: name))/manifest.sha256")
        try await place.put(bytes, at: "\(place.draft(of: name))/manifest.json")
        try await place.publish(name)
        return manifest
    }

    // MARK: One API

    /// Copies an API's database, and then the files that the copied rows name. Files that are deleted meanwhile are kept
    /// until then.
    private func copy(
        _ part: BackupSource.Part, to name: String, known: [BackupManifest.StoredFile]
    ) async throws -> BackupManifest.API {
        guard let store = part.store else { return try await copyHeld(part, nil, to: name, known: known) }
        return try await store.keepingDeleted { try await copyHeld(part, store, to: name, known: known) }
    }

    private func copyHeld(
        _ part: BackupSource.Part, _ store: (any ObjectStore)?, to name: String,
        known: [BackupManifest.StoredFile]
    ) async throws -> BackupManifest.API {
        let suffix = source.engine == .sqlite ? "sqlite" : "dump"
        let copy = "\(place.scratch)/\(part.api.name)-\(UUID().uuidString).\(suffix)"
        defer { unlink(copy) }
        let columns = part.api.storedFiles
        let (progress, continuation) = AsyncStream<(Int, Int)>.makeStream(bufferingPolicy: .bufferingNewest(1))
        async let shown: Void = { for await (done, total) in progress { await show(done, total) } }()
        let rows: Rows
        do {
            rows = try await part.database.backUp(to: copy, using: .init(environment: source.settings.environment)) {
                continuation.yield(($0, $1))
            } reading: { db in
                var (needed, possible): ([String], [String]) = ([], [])
                for column in columns {
                    let keys = try column.keys(in: db)
                    if column.mayBeAbsent { possible += keys } else { needed += keys }
                }
                return Rows(counts: try db.rowCounts(), needed: needed, possible: possible)
            }
            continuation.finish()
            await shown
        } catch {
            continuation.finish()
            await shown
            throw error
        }
        chmod(copy, 0o600)
        let database = try await self.store(
            SpooledFile(takingOver: copy), at: "databases/\(part.api.name).\(suffix)", of: name)
        var result = BackupManifest.API(
            name: part.api.name, database: database, rows: rows.counts, storeID: nil, files: [], missing: [])
        var copied = 0
        if let store {
            result.storeID = try await store.identity()
            let files = BackupFiles(store: store, place: place, known: known, show: show)
            (result.files, result.missing, copied) = try await files.copy(rows.needed, optional: rows.possible)
        }
        try await report(result.line(copied: copied))
        return result
    }

    /// The counts and names that were read from the copied rows.
    private struct Rows: Sendable {
        let counts: [String: Int]
        /// The keys of files that must be there.
        let needed: [String]
        /// The keys of files that may not have been uploaded yet.
        let possible: [String]
    }

    /// Stores a file in the backup's own folder.
    private func store(_ file: SpooledFile, at path: String, of name: String) async throws -> BackupManifest.Item {
        try await file.finish()
        let item = BackupManifest.Item(path: path, size: file.count, sha256: file.sha256.hexadecimal)
        try await place.put(file, at: "\(place.draft(of: name))/\(path)")
        return item
    }
}

extension BackupManifest.API {
    /// Returns the line that tells the operator what was copied.
    fileprivate func line(copied: Int) -> String {
        var line = "\(name): \(rows.values.reduce(0, +)) rows, \(ByteText.of(database.size))"
        if !files.isEmpty {
            line += "; \(files.count) files, \(ByteText.of(files.reduce(0) { $0 + $1.size })), \(copied) of them new"
        }
        if !missing.isEmpty { line += "; \(missing.count) FILES THAT ROWS NAME ARE MISSING" }
        return line
    }
}
