import Database
import Foundation
import Identity
import Logging
import ObjectStore

/// Everything that a server keeps: the database and the files of each API, and the keys.
struct BackupSource: Sendable {
    /// An API's database and files, which are open.
    struct Part: Sendable {
        let api: any HostedAPI
        let database: Database
        /// The store of the files; nil for an API without files.
        let store: (any ObjectStore)?
    }

    let settings: ServerSettings
    /// All APIs of the program.
    let known: [any HostedAPI]
    /// The APIs that this process serves.
    let running: [RunningAPI]

    var engine: DatabaseCopy.Engine { settings.database == .sqlite ? .sqlite : .postgreSQL }

    /// Runs a closure with the database and files of an API. Those that this process does not serve are opened for it.
    ///
    /// - Returns: The closure's result; nil when the API has no database.
    func open<T: Sendable>(
        _ api: any HostedAPI, _ body: @Sendable (Part) async throws -> T
    ) async throws -> T? {
        try await openDatabase(of: api) { database in
            if let running = running.first(where: { $0.name == api.name }) {
                return try await body(Part(api: api, database: database, store: running.objects))
            }
            return try await withStore(of: api) { try await body(Part(api: api, database: database, store: $0)) }
        }
    }

    /// Runs a closure with the database of an API. One that this process does not serve is opened for it.
    ///
    /// - Returns: The closure's result; nil when the API has no database.
    func openDatabase<T: Sendable>(
        of api: any HostedAPI, _ body: @Sendable (Database) async throws -> T
    ) async throws -> T? {
        if let running = running.first(where: { $0.name == api.name }) {
            // A command that has begun is not refused because the database is busy.
            return try await QueueLimits.withoutLimit { try await body(running.database) }
        }
        guard try await hasDatabase(api) else { return nil }
        let files = ServerFiles(folder: settings.folder, database: settings.database, bus: settings.bus)
        let database = try files.openDatabase(of: api)
        let result: Result<T, any Error>
        do { result = .success(try await body(database)) } catch { result = .failure(error) }
        try await database.close()
        return try result.get()
    }

    private func withStore<T>(
        of api: any HostedAPI, _ body: ((any ObjectStore)?) async throws -> T
    ) async throws -> T {
        guard api.storesFiles else { return try await body(nil) }
        let store = try openStore(of: api)
        let result: Result<T, any Error>
        do { result = .success(try await body(store)) } catch { result = .failure(error) }
        try await (store as? S3ObjectStore)?.close()
        return try result.get()
    }

    func hasDatabase(_ api: any HostedAPI) async throws -> Bool {
        switch settings.database {
        case .sqlite:
            FileManager.default.fileExists(atPath: DatabaseLocation.file(of: api.name, in: settings.folder))
        case .postgreSQL(let url): try await Database.exists(url: url, api.schema)
        }
    }

    /// Opens the store of an API that no process serves, to read it or to fill it.
    func openStore(of api: any HostedAPI) throws -> any ObjectStore {
        try Self.openStore(of: api, objects: settings.objects, settings)
    }

    static func openStore(
        of api: any HostedAPI, objects: String, _ settings: ServerSettings, folder: String? = nil
    ) throws -> any ObjectStore {
        let now: @Sendable () -> Int64 = { TimeSource.system.seconds }
        let folder = folder ?? settings.folder
        guard objects == "local" else {
            return try S3ObjectStore(
                location: try S3Location(objects).folder(api.name),
                credentials: try S3Credentials(environment: settings.environment),
                spoolFolder: "\(folder)/uploads/\(api.name)", now: now)
        }
        try FileManager.default.createDirectory(
            atPath: "\(folder)/files", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        // No URL is made here, so the key that signs them does not matter.
        return try LocalObjectStore(
            folder: "\(folder)/files/\(api.name)", keys: { [] }, baseURL: "http://none",
            now: now)
    }

    /// Records an action on the whole server in the audit of each API that has a database.
    func record(_ audit: Audit, _ subject: String) async throws {
        for api in known {
            _ = try await openDatabase(of: api) { database in
                try await database.write { try audit.record(subject, in: $0) }
            }
        }
    }

    /// Records an action that concerns no API's data in the audit of the first API that has a database.
    func recordOnce(_ audit: Audit, _ subject: String) async throws {
        for api in known {
            let isRecorded = try await openDatabase(of: api) { database in
                try await database.write { try audit.record(subject, in: $0) }
                return true
            }
            if isRecorded == true { return }
        }
    }

    // MARK: Keys

    /// The names of the files in the data folder's `keys`.
    var keyFiles: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: settings.folder + "/keys")) ?? []).filter {
            !$0.hasPrefix(".")
        }.sorted()
    }

    /// The environment variables that hold keys.
    var keysInEnvironment: [String] {
        known.flatMap(\.keys).map(\.variable)
            .flatMap { [$0, SecretKeys.formerVariable(of: $0)] }
            .filter { settings.environment[$0] != nil }.sorted()
    }
}
