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
        let thumbnailer = Result { () throws(ImageError) in
            Thumbnailer(executable: try Thumbnailer.locate(environment: environment))
        }
        let (mailer, place) = mailer(api.name)
        let outbox = Outbox(mailer) { error in
            logger.warning("a letter was not sent", metadata: ["error": "\(error)"])
        }
        let service = DunbarService(
            database: database, objects: objects, passwords: passwords, images: imageMaker(thumbnailer, logger),
            outbox: outbox, secret: secret, settings: settings)
        let health = Health(check: service.check)
        var routes = service.routes()
        routes.serve(health)
        let table = RouteTable(routes, options: options(api))
        return Hosted(
            name: api.name, basePath: api.basePath, listener: Listener(table, sockets: [], group: group),
            health: health,
            listen: {}, sweep: service.sweep,
            review: {
                logger.info("letters", metadata: ["to": "\(place)"])
                do throws(ImageError) {
                    let missing = try await thumbnailer.get().missingFormats()
                    guard !missing.isEmpty else { return }
                    let formats = missing.map(\.rawValue).joined(separator: ", ")
                    logger.warning("some pictures cannot be read on this machine", metadata: ["formats": "\(formats)"])
                } catch {
                    logger.warning("pictures are refused with 503", metadata: ["error": "\(error)"])
                }
            },
            close: {
                await outbox.close()
                try await close(database, objects)
            })
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

    /// What is wrong with the image is its owner's affair; what is wrong with this machine the operator's.
    private func imageMaker(
        _ thumbnailer: Result<Thumbnailer, ImageError>, _ logger: Logger
    ) -> DunbarService.ImageMaker {
        { path, use in
            do throws(ImageError) {
                switch use {
                case .profile: return try await thumbnailer.get().jpeg(of: path, .fit(within: 1024))
                case .post: return try await thumbnailer.get().rewritten(path).bytes
                }
            } catch {
                switch error {
                case .notAnImage, .tooLarge: return nil
                case .crashed, .timedOut:
                    logger.warning("a picture cannot be made", metadata: ["error": "\(error)"])
                    return nil
                case .cancelled: throw CancellationError()
                case .unavailable, .unreadable:
                    logger.error("no picture can be made", metadata: ["error": "\(error)"])
                    throw Problem(.serviceUnavailable, Dunbar.phrases.unavailable).retry(afterSeconds: 5)
                }
            }
        }
    }
}
