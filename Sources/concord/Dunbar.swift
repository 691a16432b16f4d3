import Backend
import Contract
import ContractServer
import DunbarAPI
import DunbarService
import Foundation
import Images
import Logging
import Mail
import ObjectStore

/// What an operator sets for Dunbar alone.
struct DunbarSettings: Sendable {
    /// Of other sites whose pages may change something.
    var origins: [String]
    /// Nil: letters go into a folder.
    var mailServer: SMTPServer?
    /// The address that letters are from.
    var sender: String
}

extension Composition {
    func hostDunbar() throws -> Hosted {
        let api = Dunbar.self
        let logger = logger(for: api)
        let secret = try keys.key("dunbar-requests", variable: "CONCORD_DUNBAR_REQUEST_KEY")
        let database = try openDatabase(api.name, DunbarService.schema)
        // Last of what may fail: it must be closed.
        let objects = try openObjects(api.name)
        var settings = DunbarService.Settings(publicURL: publicURL(api.name))
        settings.origins = dunbar.origins
        settings.storageQuota = storage.quotas[api.name] ?? settings.storageQuota
        settings.uploadsPerHour = storage.uploadsPerHour[api.name] ?? settings.uploadsPerHour
        let pictures = Pictures(environment: environment, phrases: api.phrases, logger: logger)
        let (mailer, place) = mailer(api.name)
        let service = DunbarService(
            database: database, objects: objects, passwords: passwords,
            images: { path, use in
                try await pictures.make { helper throws(ImageError) in
                    switch use {
                    case .profile: try await helper.jpeg(of: path, .fit(within: 1024))
                    case .post: try await helper.rewritten(path).bytes
                    }
                }
            },
            mailer: mailer, secret: secret, settings: settings,
            report: { error, isTriedAgain in
                logger.warning(
                    "a letter was not sent", metadata: ["error": "\(error)", "again": "\(isTriedAgain)"])
            })
        let health = health(api.name, service.check)
        var routes = service.routes()
        routes.serve(health)
        let table = RouteTable(routes, options: options(api))
        return Hosted(
            name: api.name, basePath: api.basePath, listener: Listener(table, sockets: [], group: group),
            health: health, database: database,
            listen: service.deliverLetters, sweep: service.sweep,
            review: {
                logger.info("letters", metadata: ["to": "\(place)"])
                await pictures.review()
            },
            close: { try await close(database, objects) })
    }

    /// Who takes letters, and where they go, in words.
    private func mailer(_ name: String) -> (any Mailer, String) {
        let now: @Sendable () -> Int64 = { TimeSource.system.seconds }
        if let server = dunbar.mailServer {
            return (SMTPMailer(server, from: dunbar.sender, group: group, now: now), "\(server.host):\(server.port)")
        }
        let path = "\(folder)/mail/\(name)"
        return (MailboxFolder(path: path, from: dunbar.sender, now: now), path)
    }
}
