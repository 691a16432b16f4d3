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
    /// The mail server; nil for a folder into which e-mails are written.
    var mailServer: SMTPServer?
    /// The address that e-mails are from.
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
        var limits = Thumbnailer.PixelLimits()
        limits.photos = ImageTooLarge.megapixels(of: .jpeg) * 1_000_000
        limits.webp = ImageTooLarge.megapixels(of: .webp) * 1_000_000
        limits.others = ImageTooLarge.megapixels(of: .png) * 1_000_000
        let pictures = Pictures(environment: environment, limits: limits, phrases: api.phrases, logger: logger)
        let (mailer, place) = mailer(api.name)
        let service = DunbarService(
            database: database, objects: objects, passwords: passwords,
            images: { path, use, user in
                let made = try await pictures.make { helper throws(ImageError) in
                    switch use {
                    case .profile: try await helper.jpeg(of: path, .fit(within: 1024), for: "\(user)")
                    case .post: try await helper.rewritten(path, for: "\(user)").bytes
                    }
                }
                switch made {
                case .picture(let bytes): return bytes
                case .unreadable: return nil
                case .tooLarge: throw ImageTooLarge()
                }
            },
            mailer: mailer, secret: secret, settings: settings,
            report: { email, error, isTriedAgain in
                logger.warning(
                    "an e-mail was not sent",
                    metadata: [
                        "email": "\(email.map(String.init) ?? "unknown")", "error": "\(error)",
                        "again": "\(isTriedAgain)",
                    ])
            })
        let health = health(api, service.check)
        var routes = service.routes()
        routes.serve(health)
        let table = RouteTable(routes, options: options(api))
        return Hosted(
            name: api.name, basePath: api.basePath, listener: listener(table),
            health: health, database: database,
            listen: service.sendEmails,
            sweep: { [limits = sweepLimits(api.name)] in try await service.sweep(limits: limits) },
            pair: try pairing(
                api.name, database, accounts: "users",
                keys: [
                    shared(
                        "dunbar-requests", "CONCORD_DUNBAR_REQUEST_KEY", secret,
                        loss:
                            "e-mails that wait cannot be read, links to its files are refused, and so are repeats of "
                            + "requests under an Idempotency-Key of the last day")
                ], objects: objects, references: service.references),
            prepare: service.prepare,
            review: {
                logger.info("e-mails", metadata: ["to": "\(place)"])
                await pictures.review()
            },
            abandon: database.refuseAll,
            close: { try await close(database, objects) })
    }

    /// Returns the mailer, and where e-mails go, in words.
    private func mailer(_ name: String) -> (any Mailer, String) {
        let now: @Sendable () -> Int64 = { TimeSource.system.seconds }
        if let server = dunbar.mailServer {
            return (SMTPMailer(server, from: dunbar.sender, group: group, now: now), "\(server.host):\(server.port)")
        }
        let path = "\(folder)/mail/\(name)"
        return (MailboxFolder(path: path, from: dunbar.sender, now: now), path)
    }
}
