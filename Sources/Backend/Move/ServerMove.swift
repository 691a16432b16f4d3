import Database
import Foundation
import ObjectStore

/// Moves databases from one engine to the other, and files from a folder to a bucket or back, while no server runs.
public struct ServerMove: Sendable {
    private let settings: ServerSettings
    private let known: [any HostedAPI]
    private let database: DatabaseLocation?
    private let objects: String?

    /// - Parameters:
    ///   - settings: Where the server has kept its data until now.
    ///   - known: All APIs of the program.
    ///   - database: The new place of the databases; nil where they stay.
    ///   - objects: The new place of the files; nil where they stay.
    public init(
        _ settings: ServerSettings, known: [any HostedAPI], database: DatabaseLocation?, objects: String?
    ) {
        self.settings = settings
        self.known = known
        self.database = database
        self.objects = objects
    }

    /// Moves APIs, or goes on with a move that was interrupted.
    ///
    /// - Parameters:
    ///   - names: The names of the APIs; none for all that have a database.
    ///   - report: Writes a line for the operator.
    /// - Throws: Errors whose descriptions are for the operator.
    public func run(
        _ names: [String], reporting report: @escaping @Sendable (String) -> Void,
        showing show: @escaping @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws {
        PrivateFiles.keepPrivate()
        guard FileManager.default.fileExists(atPath: settings.folder) else {
            throw OperatorError("There is no folder \(settings.folder): is it the server's data folder (--data)?")
        }
        guard database != settings.database, objects != settings.objects else {
            throw OperatorError("That is the place from which the data would be moved")
        }
        let folder = try DataFolder(settings.folder)
        defer { folder.giveToOwner() }
        for case .postgreSQL(let url)? in [settings.database, database] { try await DatabaseMove.requireUnused(url) }
        let source = BackupSource(settings: settings, known: known, running: [])
        var apis: [any HostedAPI] = []
        for api in known where names.isEmpty || names.contains(api.name) {
            let exists = try await source.hasDatabase(api)
            guard exists || names.isEmpty else {
                throw OperatorError("\(settings.folder) has no \(api.title) database to move")
            }
            if exists { apis.append(api) }
        }
        guard !apis.isEmpty else { throw OperatorError("\(settings.folder) has no database to move") }
        // The files come first: a database that has moved is no longer at its old place when a move goes on.
        for api in apis {
            if let objects, api.storesFiles { try await moveFiles(of: api, to: objects, report, show) }
        }
        for api in apis {
            if let database { try await moveDatabase(of: api, to: database, report, show) }
        }
        try await record(apis)
        report("Start the server with \(newSettings)")
    }

    /// The settings that the next start needs, in words.
    private var newSettings: String {
        var flags: [String] = []
        switch database {
        case .sqlite?: flags.append("--database sqlite, or without CONCORD_DATABASE")
        case .postgreSQL(let url)?:
            flags.append("--database \(PostgreSQLURL.masked(url) ?? "postgres://…") (CONCORD_DATABASE)")
        case nil: break
        }
        if let objects { flags.append("--objects \(objects) (CONCORD_OBJECTS)") }
        return flags.joined(separator: " and ")
    }

    /// Records the move in the audit of each API, at the new place.
    private func record(_ apis: [any HostedAPI]) async throws {
        var settings = settings
        var changes: [String] = []
        if let database {
            settings.database = database
            changes.append("the database to \(database == .sqlite ? "SQLite" : "PostgreSQL")")
        }
        if let objects { changes.append("the files to \(objects.prefix { $0 != "?" })") }
        let audit = Audit(actor: OperatorName.ofThisProcess(settings.environment), action: "move")
        try await BackupSource(settings: settings, known: apis, running: [])
            .record(audit, changes.joined(separator: ", "))
    }

    private func moveFiles(
        of api: any HostedAPI, to objects: String, _ report: @Sendable (String) -> Void,
        _ show: @escaping @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws {
        let source = try BackupSource.openStore(of: api, objects: settings.objects, settings)
        let target = try BackupSource.openStore(of: api, objects: objects, settings)
        let place =
            objects == "local"
            ? "the folder \(settings.folder)/files/\(api.name)"
            : "the bucket \(objects.prefix { $0 != "?" })/\(api.name)"
        let result: Result<(files: Int, copied: Int), any Error>
        do {
            result = .success(
                try await StoreMove(source: source, target: target, targetPlace: place, show: show).run())
        } catch {
            result = .failure(error)
        }
        for store in [source, target] { try await (store as? S3ObjectStore)?.close() }
        let (files, copied) = try result.get()
        report("\(api.name): \(files) files in \(place), \(copied) of them copied now; each has the same digest")
    }

    private func moveDatabase(
        of api: any HostedAPI, to database: DatabaseLocation, _ report: @escaping @Sendable (String) -> Void,
        _ show: @escaping @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws {
        let move = DatabaseMove(api.schema, from: place(of: api, settings.database), to: place(of: api, database))
        let moved = try await move.run { step in
            if case .copying(_, let done, let total) = step { show(done, total) }
        }
        for (table, count) in moved.rows.sorted(by: { $0.key < $1.key }) where count > 0 {
            report("\(api.name): \(table): \(count) rows, the same digest on both sides")
        }
        report("\(api.name): \(moved.rows.values.reduce(0, +)) rows moved; the old database is kept as \(moved.kept)")
        let note = MovedDatabase(api: api.name, folder: settings.folder)
        if case .postgreSQL(let url) = database { try note.write(url) } else { note.remove() }
    }

    private func place(of api: any HostedAPI, _ location: DatabaseLocation) -> DatabaseMove.Place {
        switch location {
        case .sqlite: .sqlite(path: DatabaseLocation.file(of: api.name, in: settings.folder))
        case .postgreSQL(let url): .postgreSQL(url: url)
        }
    }
}
