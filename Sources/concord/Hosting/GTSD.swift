import Backend
import ContractServer
import GTSDAPI
import GTSDService
import ObjectStore

extension Composition {
    func hostGTSD() throws -> Hosted {
        let api = GTSD.self
        let tokenKey = try keys.key("gtsd-tokens", variable: "CONCORD_GTSD_TOKEN_KEY")
        let database = try openDatabase(api.name, GTSDService.schema)
        // Last of what may fail: it must be closed.
        let objects = try openObjects(api.name)
        var settings = GTSDService.Settings()
        settings.storageQuota = storage.quotas[api.name] ?? settings.storageQuota
        settings.uploadsPerHour = storage.uploadsPerHour[api.name] ?? settings.uploadsPerHour
        let service = GTSDService(
            database: database, objects: objects, passwords: passwords, tokenKey: tokenKey, settings: settings)
        let health = health(api, service.check)
        var routes = service.routes()
        routes.serve(health, answering: GTSDService.healthy)
        if let local = objects as? LocalObjectStore { routes.serve(local, receiving: service.uploads) }
        let table = RouteTable(routes, options: options(api))
        return Hosted(
            name: api.name, listener: listener(table), health: health, database: database,
            // Nothing is told between nodes: what one changes, the others read.
            listen: {}, sweep: { [limits = sweepLimits(api.name)] in try await service.sweep(limits: limits) },
            pair: try pairing(
                api.name, database, accounts: "users",
                keys: [shared("gtsd-tokens", "CONCORD_GTSD_TOKEN_KEY", tokenKey, loss: "access tokens are refused")],
                objects: objects, references: service.references),
            abandon: database.refuseAll,
            close: { try await close(database, objects) })
    }
}
