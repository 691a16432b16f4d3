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

/// One API, put together and ready to listen.
struct Hosted: Sendable {
    let name: String
    /// What stands before its paths.
    var basePath = ""
    let listener: Listener
    let health: Health
    /// Runs until it is cancelled: hears what other nodes announce, sends letters.
    let listen: @Sendable () async -> Void
    /// To be called now and then.
    let sweep: @Sendable () async throws -> Void
    /// To be called at the start: logs what will not work.
    var review: @Sendable () async -> Void = {}
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
        let health = health(api.name, service.check)
        var routes = service.routes()
        routes.serve(health)
        if let local = objects as? LocalObjectStore { routes.serve(local) }
        let table = RouteTable(routes, options: options(api))
        return Hosted(
            name: api.name, listener: Listener(table, sockets: service.sockets(), group: group), health: health,
            listen: service.listen, sweep: service.sweep,
            close: { try await close(database, objects) })
    }

    func close(_ database: Database, _ objects: any ObjectStore) async throws {
        try await database.close()
        try await (objects as? S3ObjectStore)?.close()
    }

    /// The readiness of an API that stores files: without room for them it still serves texts.
    func health(_ name: String, _ check: @escaping @Sendable () async throws -> Void) -> Health {
        Health(check: check) { [storage, folder] in
            do {
                try await NIOThreadPool.singleton.runIfActive { try storage.reserve.check(folder) }
            } catch is InsufficientStorage {
                return [Problem.insufficientStorage.message]
            } catch {
                return ["\(error)"]
            }
            return []
        }
    }

    func openDatabase(_ name: String, _ schema: Schema) throws -> Database {
        database == "sqlite"
            ? try .sqlite(path: "\(folder)/\(name).sqlite", schema: schema)
            : try .postgreSQL(url: database, schema: schema)
    }

    func openObjects(_ name: String) throws -> any ObjectStore {
        guard objects == "local" else {
            // A folder for each API: a sweep removes whatever no row of its own database names.
            return try S3ObjectStore(
                location: try S3Location(objects).folder(name),
                credentials: try S3Credentials(environment: environment),
                spoolFolder: "\(folder)/uploads/\(name)", reserve: storage.reserve, now: { TimeSource.system.seconds })
        }
        return try LocalObjectStore(
            folder: "\(folder)/files/\(name)",
            signingKey: try keys.key("signed-urls", variable: "CONCORD_URL_KEY", for: name),
            formerKey: try keys.key("signed-urls", variable: "CONCORD_URL_KEY"),
            baseURL: publicURL(name) + "/objects", reserve: storage.reserve, now: { TimeSource.system.seconds })
    }

    func options<API: ServiceAPI>(_ api: API.Type) -> RouteTable<API>.Options {
        .init(logger: logger(for: api), trustedProxies: trustedProxies, showsDetails: isDevelopment) {
            Problem.unavailable($0, API.phrases)
        }
    }

    func logger<API: ServiceAPI>(for api: API.Type) -> Logger {
        var logger = logger
        logger[metadataKey: "api"] = "\(api.name)"
        return logger
    }
}
