import Database
import Foundation
import ObjectStore

/// Restores a backup into an empty place: a data folder, and a PostgreSQL database or a bucket if the server is to use
/// them.
///
/// Everything is written beside its final place and compared with its digest first. So a restore that fails or is
/// interrupted leaves nothing that a server would start with.
public struct BackupRestore: Sendable {
    /// The folder within the data folder where everything stands until it is complete.
    private static let draft = ".restoring"
    /// The names that an empty data folder may contain.
    private static let ignored: Set<String> = [draft, "lock", "lost+found"]

    private let place: any BackupPlace
    private let location: BackupLocation
    private let settings: ServerSettings
    private let known: [any HostedAPI]
    private let report: @Sendable (String) -> Void
    private let show: @Sendable (_ done: Int, _ total: Int) async -> Void

    init(
        place: any BackupPlace, location: BackupLocation, settings: ServerSettings, known: [any HostedAPI],
        report: @escaping @Sendable (String) -> Void,
        show: @escaping @Sendable (_ done: Int, _ total: Int) async -> Void
    ) {
        self.place = place
        self.location = location
        self.settings = settings
        self.known = known
        self.report = report
        self.show = show
    }

    private var draft: String { "\(settings.folder)/\(Self.draft)" }
    private var tools: PostgreSQLTools { PostgreSQLTools(environment: settings.environment) }

    /// An API's part of the backup, with the API.
    private struct Part: Sendable {
        let api: any HostedAPI
        let saved: BackupManifest.API
    }

    /// Restores a backup.
    ///
    /// - Parameter given: Its name; nil for the newest.
    /// - Throws: ``BackupError`` and other errors whose descriptions are for the operator.
    func run(_ given: String?) async throws {
        let name = try await place.name(given)
        let manifest = try await place.manifest(of: name)
        let parts = try parts(of: manifest)
        try await requireEmpty(parts)
        let folder = try DataFolder(settings.folder)
        defer { folder.giveToOwner() }
        try? FileManager.default.removeItem(atPath: draft)
        for path in [draft, draft + "/keys", draft + "/files"] { try Self.make(path) }
        do {
            try await stage(parts, manifest, of: name)
            let undo = Undo()
            do {
                try await fill(parts, manifest, of: name, undo)
                try publish(parts)
            } catch {
                await undo.run()
                throw error
            }
        } catch {
            try? FileManager.default.removeItem(atPath: draft)
            throw error
        }
        report("\(name) is restored in \(settings.folder)")
        if !manifest.keysInEnvironment.isEmpty {
            report(
                """
                The backup has no keys that were in the environment. Set these before the start, or users are signed \
                out: \(manifest.keysInEnvironment.joined(separator: ", "))
                """)
        }
    }

    private static func make(_ folder: String) throws {
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    // MARK: Refusing

    private func parts(of manifest: BackupManifest) throws -> [Part] {
        switch (manifest.engine, settings.database) {
        case (.sqlite, .sqlite), (.postgreSQL, .postgreSQL): break
        case (.sqlite, .postgreSQL):
            throw BackupError(
                """
                The backup has SQLite's databases. Restore it without --database, and then move it: concord move --to \
                postgres://…
                """)
        case (.postgreSQL, .sqlite):
            throw BackupError("The backup has PostgreSQL's databases: give one with --database postgres://…")
        }
        return try manifest.apis.map { saved in
            guard let api = known.first(where: { $0.name == saved.name }) else {
                throw BackupError("The backup has an API \(saved.name), which this program does not have")
            }
            return Part(api: api, saved: saved)
        }
    }

    private func requireEmpty(_ parts: [Part]) async throws {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: settings.folder)) ?? []
        if let name = names.sorted().first(where: { !Self.ignored.contains($0) }) {
            throw BackupError(
                """
                The data folder \(settings.folder) is not empty (\(name)), and nothing is written into it. Move it away, \
                or choose another with --data
                """)
        }
        for part in parts {
            if case .postgreSQL(let url) = settings.database {
                try await DatabaseCopy.requireEmpty(url, part.api.schema)
            }
            guard part.api.storesFiles, settings.objects != "local" else { continue }
            try await withBucket(of: part.api) { bucket in
                var (isEmpty, cursor): (Bool, String?) = (try await bucket.identity() == nil, nil)
                repeat {
                    let page = try await bucket.keys(olderThan: .max, after: cursor)
                    if !page.keys.isEmpty { isEmpty = false }
                    cursor = page.next
                } while cursor != nil && isEmpty
                guard isEmpty else {
                    throw BackupError(
                        """
                        The bucket \(settings.objects.prefix { $0 != "?" })/\(part.api.name) is not empty, and nothing is \
                        written into it. Choose another with --objects
                        """)
                }
            }
        }
    }

    private func withBucket<T>(of api: any HostedAPI, _ body: (any ObjectStore) async throws -> T) async throws -> T {
        let store = try BackupSource.openStore(of: api, objects: settings.objects, settings, folder: draft)
        let result: Result<T, any Error>
        do { result = .success(try await body(store)) } catch { result = .failure(error) }
        try await (store as? S3ObjectStore)?.close()
        return try result.get()
    }

    // MARK: Beside the final place

    /// Writes databases, keys and, for a folder, files to the draft, and makes sure that all of it is undamaged.
    private func stage(_ parts: [Part], _ manifest: BackupManifest, of name: String) async throws {
        for key in manifest.keys {
            let path = "\(draft)/\(key.path)"
            guard let content = try await place.open("backups/\(name)/\(key.path)") else {
                throw BackupError("\(key.path) is missing in the backup")
            }
            try await BackupVerification.write(content, key, to: path)
        }
        for part in parts {
            let path = copy(of: part)
            guard let content = try await place.open("backups/\(name)/\(part.saved.database.path)") else {
                throw BackupError("\(part.saved.database.path) is missing in the backup")
            }
            try await BackupVerification.write(content, part.saved.database, to: path)
            try await DatabaseCopy(path: path, engine: manifest.engine).verify(rows: part.saved.rows, using: tools)
            if manifest.engine == .sqlite {
                // This is what a start does: it refuses a database of a newer version, and brings an older one up to date.
                try await record(name, in: Database.sqlite(path: path, schema: part.api.schema, readers: 1))
            }
            guard part.api.storesFiles else { continue }
            if settings.objects == "local" {
                let store = try BackupSource.openStore(of: part.api, objects: "local", settings, folder: draft)
                try await copyFiles(of: part, to: store)
                if let id = part.saved.storeID { _ = try await store.identify(as: id) }
            } else {
                // A bucket has no draft, so everything is looked at before the first file is written.
                for file in part.saved.files { _ = try await spooled(file, of: part.saved.name, in: draft) }
            }
        }
    }

    /// Records the restore in the audit of a database, and closes the database.
    private func record(_ name: String, in database: Database) async throws {
        let audit = Audit(actor: OperatorName.ofThisProcess(settings.environment), action: "restore")
        let result: Result<Void, any Error>
        do {
            result = .success(
                try await database.write { try audit.record("\(name) from \(location.withoutQuery)", in: $0) })
        } catch {
            result = .failure(error)
        }
        try await database.close()
        try result.get()
    }

    private func copy(of part: Part) -> String {
        let isFile = settings.database == .sqlite
        return isFile ? DatabaseLocation.file(of: part.api.name, in: draft) : "\(draft)/\(part.api.name).dump"
    }

    private func copyFiles(of part: Part, to store: any ObjectStore) async throws {
        let total = part.saved.files.count
        for (index, file) in part.saved.files.enumerated() {
            guard let key = ObjectKey(file.key) else { throw BackupError("'\(file.key)' cannot be a file's key") }
            let spool = try await store.spool()
            try await receive(file, of: part.saved.name, into: spool)
            try await store.put(spool, at: key, contentType: "application/octet-stream")
            if (index + 1) % 16 == 0 || index + 1 == total { await show(index + 1, total) }
        }
    }

    private func spooled(_ file: BackupManifest.StoredFile, of api: String, in folder: String) async throws {
        let spool = try await SpooledFile(folder: folder)
        try await receive(file, of: api, into: spool)
        try await spool.discard()
    }

    /// Reads a file of the backup, and makes sure that it has its digest.
    private func receive(_ file: BackupManifest.StoredFile, of api: String, into spool: SpooledFile) async throws {
        let path = type(of: place).object(file.sha256)
        guard let content = try await place.open(path) else {
            throw BackupError("\(path), which is \(file.key) of \(api), is missing in the backup")
        }
        try await content.send { try await spool.append($0) }
        guard spool.count == file.size, spool.sha256.hexadecimal == file.sha256 else {
            throw BackupError("\(path), which is \(file.key) of \(api), is damaged: it does not have its digest")
        }
        try await spool.finish()
    }

    // MARK: The final place

    /// Fills PostgreSQL and the bucket.
    private func fill(_ parts: [Part], _ manifest: BackupManifest, of name: String, _ undo: Undo) async throws {
        for part in parts {
            if part.api.storesFiles, settings.objects != "local" {
                await undo.add { try await withBucket(of: part.api) { try await empty($0, part.saved.files) } }
                try await withBucket(of: part.api) { bucket in
                    try await copyFiles(of: part, to: bucket)
                    if let id = part.saved.storeID { _ = try await bucket.identify(as: id) }
                }
            }
            if case .postgreSQL(let url) = settings.database {
                await undo.add { try await DatabaseCopy.remove(part.api.schema, from: url) }
                try await DatabaseCopy(path: copy(of: part), engine: .postgreSQL).restore(
                    to: url, part.api.schema, rows: part.saved.rows, using: tools)
                try await record(name, in: Database.postgreSQL(url: url, schema: part.api.schema, connections: 1))
            }
            report("\(part.saved.name): \(part.saved.rows.values.reduce(0, +)) rows, \(part.saved.files.count) files")
        }
    }

    private func empty(_ bucket: any ObjectStore, _ files: [BackupManifest.StoredFile]) async throws {
        for key in files.compactMap({ ObjectKey($0.key) }) { try await bucket.delete(key) }
    }

    /// Gives everything its final name, the databases last: without them a start with these files is refused.
    private func publish(_ parts: [Part]) throws {
        for name in ["keys", "files"] { try rename(name) }
        if settings.database == .sqlite {
            for part in parts { try rename("\(part.api.name).sqlite") }
        }
        try FileManager.default.removeItem(atPath: draft)
    }

    private func rename(_ name: String) throws {
        guard Foundation.rename("\(draft)/\(name)", "\(settings.folder)/\(name)") == 0 else {
            throw BackupError("\(settings.folder)/\(name): \(String(cString: strerror(errno)))")
        }
    }

    /// The steps that remove the traces of a restore that failed.
    private actor Undo {
        private var steps: [@Sendable () async throws -> Void] = []

        func add(_ step: @escaping @Sendable () async throws -> Void) { steps.append(step) }
        func run() async { for step in steps.reversed() { try? await step() } }
    }
}

extension Backups {
    /// Restores a backup into an empty place.
    ///
    /// - Parameters:
    ///   - name: Its name; nil for the newest.
    ///   - settings: Where the server is to keep its data, and the environment.
    ///   - report: Writes a line for the operator.
    public func restore(
        _ name: String?, to settings: ServerSettings, known: [any HostedAPI],
        reporting report: @escaping @Sendable (String) -> Void,
        showing show: @escaping @Sendable (_ done: Int, _ total: Int) async -> Void
    ) async throws {
        PrivateFiles.keepPrivate()
        try await BackupRestore(
            place: place, location: location, settings: settings, known: known, report: report, show: show
        ).run(name)
    }
}
