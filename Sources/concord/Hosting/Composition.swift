import Backend
import Contract
import ContractServer
import Database
import DeuceDiaryAPI
import DunbarAPI
import Foundation
import GTSDAPI
import Identity
import Logging
import MessengerAPI
import MessengerService
import MonicaAPI
import NIOCore
import NIOPosix
import ObjectStore
import WebSockets

/// One API, put together and ready to listen.
struct Hosted: Sendable {
    let name: String
    /// What stands before its paths.
    var basePath = ""
    let listener: Listener
    let health: Health
    /// What operators' commands work on.
    let database: Database
    /// Runs until it is cancelled: hears what other nodes announce, sends letters.
    let listen: @Sendable () async -> Void
    /// To be called now and then. Reports on its files, if it has any.
    let sweep: @Sendable () async throws -> SweepReport?
    /// To be called before it serves: whether its database, files and keys belong together. False while the files cannot
    /// be asked; throws where they do not.
    let pair: @Sendable () async throws -> Bool
    /// To be called before it serves: brings up to date what the schema's steps cannot.
    var prepare: @Sendable () async throws -> Void = {}
    /// To be called at the start: logs what will not work.
    var review: @Sendable () async -> Void = {}
    /// Refuses all that still waits for the database, and does not block.
    let abandon: @Sendable () -> Void
    let close: @Sendable () async throws -> Void
}

/// What all APIs share.
struct Composition: Sendable {
    let folder: String
    let keys: SecretKeys
    let passwords: Passwords
    let group: any EventLoopGroup
    let logger: Logger
    let trustedProxies: TrustedProxies
    let connections: ConnectionLimits
    /// What requests and answers of all APIs may take.
    let memory = RequestMemory()
    /// Of an API: what its absolute URLs begin with.
    let publicURL: @Sendable (String) -> String
    let storage: StorageSettings
    /// Whether refusals that nobody foresaw say why.
    let isDevelopment: Bool
    /// `sqlite`, or where PostgreSQL is.
    let database: String
    /// `local`, or where the S3 bucket is.
    let objects: String
    let environment: [String: String]
    let deuceDiary: DeuceDiarySettings
    let dunbar: DunbarSettings
    /// What the operator says about databases, files and keys that do not fit together.
    let belonging: BelongingOptions

    /// Every API there is, with the port it takes when none is given.
    static let apis: [(name: String, port: Int)] = [
        (Messenger.name, 8080), (DeuceDiary.name, 8081), (Monica.name, 8082), (GTSD.name, 8083), (Dunbar.name, 5000),
    ]

    func host(_ name: String) throws -> Hosted {
        switch name {
        case Messenger.name: try hostMessenger()
        case DeuceDiary.name: try hostDeuceDiary()
        case Monica.name: try hostMonica()
        case GTSD.name: try hostGTSD()
        case Dunbar.name: try hostDunbar()
        default: preconditionFailure("names are checked before")
        }
    }

    private func hostMessenger() throws -> Hosted {
        let api = Messenger.self
        let tokenKey = try keys.key("messenger-tokens", variable: "CONCORD_MESSENGER_TOKEN_KEY")
        let database = try openDatabase(api.name, MessengerService.schema)
        // Last of what may fail: it must be closed.
        let objects = try openObjects(api.name)
        var settings = MessengerService.Settings()
        settings.storageQuota = storage.quotas[api.name] ?? settings.storageQuota
        settings.uploadsPerHour = storage.uploadsPerHour[api.name] ?? settings.uploadsPerHour
        let service = MessengerService(
            database: database, objects: objects, passwords: passwords,
            tokenKey: tokenKey, group: group, settings: settings)
        let health = health(api, service.check)
        var routes = service.routes()
        routes.serve(health)
        if let local = objects as? LocalObjectStore { routes.serve(local) }
        let table = RouteTable(routes, options: options(api))
        return Hosted(
            name: api.name, listener: listener(table, service.sockets()), health: health,
            database: database, listen: service.listen,
            sweep: { [limits = sweepLimits(api.name)] in try await service.sweep(limits: limits) },
            pair: try pairing(
                api.name, database, accounts: "users",
                keys: [
                    shared(
                        "messenger-tokens", "CONCORD_MESSENGER_TOKEN_KEY", tokenKey, loss: "everybody is signed out")
                ], objects: objects, references: service.references),
            prepare: service.prepare, abandon: database.refuseAll,
            close: { try await close(database, objects) })
    }

    func close(_ database: Database, _ objects: any ObjectStore) async throws {
        try await database.close()
        try await ((objects as? GuardedObjectStore)?.store as? S3ObjectStore)?.close()
    }

    /// The readiness of an API that stores files: without room for them it still serves texts.
    func health<API: ServiceAPI>(
        _ api: API.Type, _ check: @escaping @Sendable () async -> [Health.Part]
    ) -> Health {
        let notes = { @Sendable [storage, folder] () async -> [String] in
            do {
                try await NIOThreadPool.singleton.runIfActive { try storage.reserve.check(folder) }
            } catch is InsufficientStorage {
                return [Problem.insufficientStorage.message]
            } catch {
                return ["\(error)"]
            }
            return []
        }
        return Health(check: check, notes: notes, logger: logger(for: api))
    }

    func openDatabase(_ name: String, _ schema: Schema) throws -> Database {
        database == "sqlite"
            ? try .sqlite(path: "\(folder)/\(name).sqlite", schema: schema, owner: owner(of: name))
            : try .postgreSQL(url: database, schema: schema)
    }

    private func owner(of name: String) -> Database.Owner {
        var logger = logger
        logger[metadataKey: "api"] = "\(name)"
        return Database.Owner(
            looks: { [logger] path in
                logger.notice(
                    "the stop before was not clean: looking at all of the database", metadata: ["path": "\(path)"])
            }, damaged: { [logger] damage in logger.critical("\(damage)") })
    }

    /// How many files that no row names a sweep may take.
    func sweepLimits(_ name: String) -> SweepLimits { belonging.allowSweep.contains(name) ? .none : .init() }

    func openObjects(_ name: String) throws -> any ObjectStore {
        guard objects == "local" else {
            // A folder for each API: a sweep removes whatever no row of its own database names.
            let bucket = try S3ObjectStore(
                location: try S3Location(objects).folder(name),
                credentials: try S3Credentials(environment: environment),
                spoolFolder: "\(folder)/uploads/\(name)", reserve: storage.reserve, now: { TimeSource.system.seconds })
            return GuardedObjectStore(bucket)
        }
        return try LocalObjectStore(
            folder: "\(folder)/files/\(name)",
            signingKey: try keys.key("signed-urls", variable: "CONCORD_URL_KEY", for: name),
            formerKey: try keys.key("signed-urls", variable: "CONCORD_URL_KEY"),
            baseURL: publicURL(name) + "/objects", reserve: storage.reserve, now: { TimeSource.system.seconds })
    }

    func listener<API: ServiceAPI>(_ table: RouteTable<API>, _ sockets: [SocketRoute] = []) -> Listener {
        Listener(table, sockets: sockets, group: group, connections: connections)
    }

    func options<API: ServiceAPI>(_ api: API.Type) -> RouteTable<API>.Options {
        .init(logger: logger(for: api), trustedProxies: trustedProxies, showsDetails: isDevelopment, memory: memory) {
            Problem.unavailable($0, API.phrases)
        }
    }

    func logger<API: ServiceAPI>(for api: API.Type) -> Logger {
        var logger = logger
        logger[metadataKey: "api"] = "\(api.name)"
        return logger
    }
}
