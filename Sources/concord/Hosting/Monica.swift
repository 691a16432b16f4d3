import Backend
import ContractServer
import MonicaAPI
import MonicaService

extension Composition {
    func hostMonica() throws -> Hosted {
        let api = Monica.self
        let logger = logger(for: api)
        let secret = try keys.key("monica-requests", variable: "CONCORD_MONICA_REQUEST_KEY")
        let database = try openDatabase(api.name, MonicaService.schema)
        let service = MonicaService(
            database: database, secret: secret, settings: .init(publicURL: publicURL(api.name)))
        let health = Health(check: service.check, logger: logger)
        var routes = service.routes()
        routes.serve(health)
        let table = RouteTable(routes, options: options(api))
        return Hosted(
            name: api.name, basePath: api.basePath, listener: listener(table),
            health: health, database: database,
            listen: {
                await service.cleanUpImports {
                    logger.warning("imports cannot be cleaned up", metadata: ["error": "\($0)"])
                }
            },
            sweep: {
                try await service.sweep()
                return nil
            },
            pair: try pairing(
                api.name, database, accounts: "accounts",
                keys: [
                    shared(
                        "monica-requests", "CONCORD_MONICA_REQUEST_KEY", secret,
                        loss: "repeats of requests under an Idempotency-Key of the last day are refused")
                ]),
            prepare: service.prepare, abandon: database.refuseAll,
            close: { try await database.close() })
    }
}
