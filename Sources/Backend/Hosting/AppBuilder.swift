import Contract
import ContractServer
import CoreMetrics
import Database
import Identity
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import ObjectStore

/// Opens what an API needs and composes it: database, object store, keys, service, router and listener.
struct AppBuilder: Sendable {
    let settings: ServerSettings
    let secrets: SecretKeys
    let group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
    /// The keys that the services of this process use.
    let keysInUse = KeysInUse()
    /// The memory that requests and answers of all APIs may take together.
    let memory = RequestMemory()
    private let tls: TLSConfiguration?
    /// The outcome of the last scheduled backup.
    let backups = BackupState()

    init(_ settings: ServerSettings, tls: TLSConfiguration? = nil) {
        self.settings = settings
        self.tls = tls
        secrets = SecretKeys(folder: settings.folder, environment: settings.environment)
    }

    /// Composes an API. What was opened is closed again when something fails.
    ///
    /// - Throws: An error in words for the operator.
    func build(_ api: some HostedAPI) async throws -> RunningAPI {
        // What the API's parts record has the API's name as a label.
        try await withMetricsFactory(MetricsSystem.factory.labelled(api: api.name)) { try await compose(api) }
    }

    private func compose(_ api: some HostedAPI) async throws -> RunningAPI {
        // The keys come first: a key that cannot be read leaves no new database behind.
        let keys = try api.keys.map(secrets.shared)
        let database = try openDatabase(of: api)
        var objects: (any ObjectStore)?
        do {
            if api.storesFiles {
                objects = try openObjects(of: api)
            }
            let platform = platform(of: api, database, objects)
            let app = try api.compose(on: platform)
            let isSweptWhole = settings.exceptions.allowSweep.contains(api.name)
            return RunningAPI(
                hosted: api, listener: app.listener(connections: settings.connections, tls: tls),
                health: app.health, database: database, objects: objects, service: app.service,
                sweepLimits: isSweptWhole ? .none : .init(),
                check: StartCheck(
                    api, database, SharedKeys(api: api.name, keys: keys),
                    stores: pairing(of: api, database, objects),
                    guarded: objects as? GuardedObjectStore, exceptions: settings.exceptions, logger: logger(of: api)),
                logStartupWarnings: {
                    await StoredTimes.warn(
                        of: api.storedTimes, in: database, at: platform.time.milliseconds(), platform.logger)
                    await api.logStartupWarnings(on: platform)
                },
                close: { [objects] in try await Self.close(database, objects) })
        } catch {
            try? await Self.close(database, objects)
            throw error
        }
    }

    private static func close(_ database: Database, _ objects: (any ObjectStore)?) async throws {
        try await database.close()
        try await ((objects as? GuardedObjectStore)?.store as? S3ObjectStore)?.close()
    }

    private func platform(of api: some HostedAPI, _ database: Database, _ objects: (any ObjectStore)?) -> Platform {
        var platform = Platform(
            database: database, objects: objects, secrets: secrets, passwords: settings.passwords, group: group,
            logger: logger(of: api), publicURL: settings.publicURL(of: api), folder: settings.folder,
            environment: settings.environment)
        platform.linksFollowHost = settings.publicURLs[api.name] == nil
        platform.isEncrypted = tls != nil
        platform.trustedProxies = settings.trustedProxies
        platform.storage = settings.storage[api.name]
        platform.reserve = settings.reserve
        platform.isDevelopment = settings.isDevelopment
        platform.about = settings.about[api.name] ?? About()
        platform.requiresTerms = settings.requiresTerms
        (platform.words, platform.flaggedWords) = (settings.words, FlaggedWords(settings.flaggedWords))
        platform.keysInUse = keysInUse
        platform.memory = memory
        platform.tracer = settings.tracer
        platform.backups = backups
        platform.documents = settings.documents[api.name] ?? []
        platform.appLinks = settings.appLinks[api.name]
        return platform
    }

    private func logger(of api: some HostedAPI) -> Logger {
        var logger = settings.logger
        logger[metadataKey: "api"] = "\(api.name)"
        return logger
    }

    // MARK: Database, keys, files

    private func openDatabase(of api: some HostedAPI) throws -> Database {
        switch settings.database {
        case .postgreSQL(let url):
            return try .postgreSQL(
                url: url, pooler: settings.pooler, replica: settings.replica, bus: settings.bus, schema: api.schema)
        case .sqlite:
            let logger = logger(of: api)
            let owner = Database.Owner(
                looks: { path in
                    logger.notice(
                        "checking the whole database: it was not stopped cleanly, or it was restored",
                        metadata: ["path": "\(path)"])
                }, damaged: { damage in logger.critical("\(damage)") })
            return try .sqlite(
                path: DatabaseLocation.file(of: api.name, in: settings.folder), schema: api.schema, owner: owner)
        }
    }

    private func openObjects(of api: some HostedAPI) throws -> any ObjectStore {
        let now: @Sendable () -> Int64 = { TimeSource.system.seconds }
        guard settings.objects == "local" else {
            // A folder for each API: a sweep removes what no row of the API's own database names.
            let bucket = try S3ObjectStore(
                location: try S3Location(settings.objects).folder(api.name),
                credentials: try S3Credentials(environment: settings.environment),
                spoolFolder: "\(settings.folder)/uploads/\(api.name)", reserve: settings.reserve, now: now)
            return GuardedObjectStore(bucket)
        }
        guard let key = api.keys.first(where: { $0.form == .secret }) else {
            preconditionFailure("\(api.name) stores files, so it has a key of random bytes: it signs their URLs")
        }
        let publicURL = settings.publicURL(of: api)
        let (secret, purpose) = (try keysInUse.secret(key, from: secrets), "object urls \(api.name)")
        return try LocalObjectStore(
            folder: "\(settings.folder)/files/\(api.name)",
            keys: { secret.keys(for: purpose) }, baseURL: LinkOrigin.current(else: publicURL) + "/objects",
            reserve: settings.reserve, now: now)
    }

    private func pairing(
        of api: some HostedAPI, _ database: Database, _ objects: (any ObjectStore)?
    ) -> StorePairing? {
        guard let objects else { return nil }
        let guarded = objects as? GuardedObjectStore
        return StorePairing(
            api: api.name, database: database, store: guarded?.store ?? objects,
            references: ObjectReferences(api.storedFiles, in: database),
            databasePlace: settings.database == .sqlite
                ? "the database \(DatabaseLocation.file(of: api.name, in: settings.folder))"
                : "the PostgreSQL database of \(api.name)",
            storePlace: guarded == nil
                ? "the folder \(settings.folder)/files/\(api.name)"
                : "the bucket \(settings.objects.prefix { $0 != "?" })/\(api.name)",
            isLocal: guarded == nil)
    }
}
