import Backend
import Contract
import ContractServer
import DeuceDiaryAPI
import DeuceDiaryService
import Foundation
import Identity
import Images
import Logging
import ObjectStore

/// What an operator sets for Deuce Diary alone.
struct DeuceDiarySettings: Sendable {
    /// Whose tokens count beside those of ``LocalIssuer``.
    struct Issuer: Sendable {
        /// As claim `iss` has it.
        var name: String
        var keySet: KeySetURL
        /// What claim `azp` may be; any, when there are none.
        var authorizedParties: Set<String>
    }

    var issuer: Issuer?
    var sockets: DeuceDiaryService.SocketAuthentication
    /// Where an invite's link leads a browser.
    var joinRedirect: String
    /// Of one user; nil for any number.
    var requestsPerMinute: Int?
}

extension Composition {
    func hostDeuceDiary() throws -> Hosted {
        let api = DeuceDiary.self
        let logger = logger(for: api)
        let tokens = try tokenReader(logger)
        let secret = try keys.key("deuce-diary-requests", variable: "CONCORD_DEUCE_DIARY_REQUEST_KEY")
        let database = try openDatabase(api.name, DeuceDiaryService.schema)
        // Last of what may fail: it must be closed.
        let objects = try openObjects(api.name)
        var settings = DeuceDiaryService.Settings(publicURL: publicURL(api.name))
        settings.joinRedirect = deuceDiary.joinRedirect
        settings.socketAuthentication = deuceDiary.sockets
        settings.requestsPerMinute = deuceDiary.requestsPerMinute
        let pictures = Pictures(environment: environment, phrases: api.phrases, logger: logger)
        let service = DeuceDiaryService(
            database: database, objects: objects, tokens: tokens,
            pictures: { path in
                try await pictures.make { helper throws(ImageError) in try await helper.jpeg(of: path, .crop(to: 200)) }
            },
            secret: secret, group: group, settings: settings)
        let health = health(api.name, service.check)
        var routes = service.routes()
        routes.serve(health)
        let table = RouteTable(routes, options: options(api))
        return Hosted(
            name: api.name, listener: Listener(table, sockets: service.sockets(), group: group), health: health,
            database: database, listen: { await service.listen() }, sweep: service.sweep,
            review: pictures.review,
            close: { try await close(database, objects) })
    }

    /// Reads tokens of this server's own key, and of the issuer that is configured.
    private func tokenReader(_ logger: Logger) throws -> DeuceDiaryService.TokenReader {
        var issuers = [TrustedIssuer.local(try keys.deuceDiaryIssuer())]
        if let issuer = deuceDiary.issuer {
            let failed = { @Sendable (error: any Error) in
                logger.warning("the issuer's keys cannot be had", metadata: ["error": "\(error)"])
            }
            issuers.append(
                .outside(
                    issuer.name, authorizedParties: issuer.authorizedParties, refreshFailed: failed,
                    keySet: { try await issuer.keySet.fetch() }))
        }
        let verifier = BearerVerifier(trusting: issuers) { TimeSource.system.seconds }
        return { token in
            do throws(TokenError) {
                let claims = try await verifier.verify(token)
                return .init(
                    subject: claims.subject, email: claims.email, firstName: claims.firstName,
                    lastName: claims.lastName, issuedAt: claims.issuedAt, expiresAt: claims.expiresAt)
            } catch .keysUnavailable {
                throw Problem(.serviceUnavailable, DeuceDiary.phrases.unavailable).retry(afterSeconds: 5)
            } catch {
                return nil
            }
        }
    }
}
