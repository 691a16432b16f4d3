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
        let service = GTSDService(database: database, objects: objects, passwords: passwords, tokenKey: tokenKey)
        let health = Health(check: service.check)
        var routes = service.routes()
        routes.serve(health, answering: GTSDService.healthy)
        if let local = objects as? LocalObjectStore { routes.serve(local) }
        let table = RouteTable(routes, options: options(api))
        return Hosted(
            name: api.name, listener: Listener(table, sockets: [], group: group), health: health,
            // Nothing is told between nodes: what one changes, the others read.
            listen: {}, sweep: service.sweep, close: { try await close(database, objects) })
    }
}
