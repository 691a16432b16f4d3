import Backend
import Contract
import ContractServer
import DeuceDiaryAPI
import DeuceDiaryService
import Foundation
import Identity
import Images
import Logging
import NIOConcurrencyHelpers
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
        let local = try keys.deuceDiaryIssuer()
        let tokens = try tokenReader(local, logger)
        let secret = try keys.key("deuce-diary-requests", variable: "CONCORD_DEUCE_DIARY_REQUEST_KEY")
        let database = try openDatabase(api.name, DeuceDiaryService.schema)
        // Last of what may fail: it must be closed.
        let objects = try openObjects(api.name)
        var settings = DeuceDiaryService.Settings(publicURL: publicURL(api.name))
        settings.joinRedirect = deuceDiary.joinRedirect
        settings.socketAuthentication = deuceDiary.sockets
        settings.requestsPerMinute = deuceDiary.requestsPerMinute
        let pictures = Pictures(
            environment: environment, limits: .init(), phrases: api.phrases, logger: logger)
        let service = DeuceDiaryService(
            database: database, objects: objects, tokens: tokens,
            pictures: { path, user in
                let made = try await pictures.make { helper throws(ImageError) in
                    try await helper.jpeg(of: path, .crop(to: 200), for: user.rawValue)
                }
                guard case .picture(let jpeg) = made else { return nil }
                return jpeg
            },
            secret: secret, group: group, settings: settings)
        let health = health(api, service.check)
        var routes = service.routes()
        routes.serve(health)
        let table = RouteTable(routes, options: options(api))
        return Hosted(
            name: api.name, listener: listener(table, service.sockets(trusting: trustedProxies)),
            health: health, database: database,
            listen: { await service.listen() },
            sweep: { [limits = sweepLimits(api.name)] in try await service.sweep(limits: limits) },
            pair: try pairing(
                api.name, database, accounts: "users",
                keys: [
                    .init(
                        name: "deuce-diary-issuer", variable: "CONCORD_DEUCE_DIARY_ISSUER_KEY",
                        fingerprint: local.fingerprint, isNew: keys.wasMade("deuce-diary-issuer"),
                        loss: "tokens of `concord token deuce-diary` are refused"),
                    shared(
                        "deuce-diary-requests", "CONCORD_DEUCE_DIARY_REQUEST_KEY", secret,
                        loss: "repeats of requests under an Idempotency-Key of the last day are refused"),
                ], objects: objects, references: service.references),
            review: pictures.review,
            abandon: database.refuseAll,
            close: { try await close(database, objects) })
    }

    /// Reads tokens of this server's own key, and of the issuer that is configured.
    private func tokenReader(_ local: LocalIssuer, _ logger: Logger) throws -> DeuceDiaryService.TokenReader {
        var issuers = [TrustedIssuer.local(local)]
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
        // Those of the server's own key say what the operator has them say.
        let namesMatter = deuceDiary.issuer != nil
        let hasWarned = NIOLockedValueBox(false)
        return { token in
            do throws(TokenError) {
                let claims = try await verifier.verify(token)
                if namesMatter, claims.firstName == nil, claims.lastName == nil, !hasWarned.exchange(with: true) {
                    logger.warning(
                        """
                        a token has no names: its user is shown without one. Have the issuer add the claims first_name, \
                        last_name and email to its session tokens
                        """)
                }
                return claims
            } catch .keysUnavailable {
                throw Problem(.serviceUnavailable, DeuceDiary.phrases.unavailable).retry(afterSeconds: 5)
            } catch {
                logger.debug("a token was refused", metadata: ["reason": "\(error)"])
                return nil
            }
        }
    }
}

extension NIOLockedValueBox {
    /// Sets a value, and returns the one before.
    fileprivate func exchange(with value: Value) -> Value where Value: Sendable {
        withLockedValue { current in
            defer { current = value }
            return current
        }
    }
}
