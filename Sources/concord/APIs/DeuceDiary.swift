import Backend
import Contract
import ContractServer
import DeuceDiaryAPI
import DeuceDiaryCheck
import DeuceDiaryExamples
import DeuceDiaryService
import Identity
import Images
import NIOConcurrencyHelpers

/// The settings that only Deuce Diary has.
struct DeuceDiarySettings: Sendable {
    /// An issuer whose tokens are accepted in addition to those of the server's own ``LocalIssuer``.
    struct Issuer: Sendable {
        /// The value of claim `iss`.
        var name: String
        var keySet: KeySetURL
        /// The values that claim `azp` may have; when there are none, any value is accepted.
        var authorizedParties: Set<String>
        /// Whether a session counts while its claim `sts` is `pending`.
        var allowsPendingSessions = false
    }

    var issuer: Issuer?
    var sockets = DeuceDiaryService.SocketAuthentication.open
    /// The URL to which an invite's link leads a browser.
    var joinRedirect = "deucediary://join/{inviteId}"
    /// The URL at which the page of an invite offers the app; nil for none.
    var appStore: String?
    /// The number of requests of one user in a minute; nil for no limit.
    var requestsPerMinute: Int?

    var hosted: HostedDeuceDiary {
        HostedDeuceDiary(
            settings: { publicURL in
                var settings = DeuceDiaryService.Settings(publicURL: publicURL)
                settings.joinRedirect = joinRedirect
                settings.appStore = appStore
                settings.socketAuthentication = sockets
                settings.requestsPerMinute = requestsPerMinute
                return settings
            },
            tokens: tokenReader,
            pictures: { platform in
                let pictures = Pictures(DeuceDiary.self, on: platform)
                return { path, user in
                    let made = try await pictures.make { helper throws(ImageError) in
                        try await helper.jpeg(of: path, .crop(to: 200), for: user.rawValue)
                    }
                    guard case .picture(let jpeg) = made else { return nil }
                    return jpeg
                }
            },
            startupWarnings: { await Pictures(DeuceDiary.self, on: $0).logStartupWarnings() })
    }

    /// Returns a reader of tokens that are signed with this server's own key or by the configured issuer.
    private func tokenReader(on platform: Platform) throws -> DeuceDiaryService.TokenReader {
        let logger = platform.logger
        var issuers = [TrustedIssuer.local(try platform.issuer(HostedDeuceDiary.issuerKey))]
        if let issuer {
            let failed = { @Sendable (error: any Error) in
                logger.warning("fetching the issuer's keys failed", metadata: ["error": "\(error)"])
            }
            issuers.append(
                .outside(
                    issuer.name, authorizedParties: issuer.authorizedParties,
                    allowsPendingSessions: issuer.allowsPendingSessions, refreshFailed: failed,
                    keySet: { try await issuer.keySet.fetch() }))
        }
        let verifier = BearerVerifier(trusting: issuers) { [time = platform.time] in time.seconds }
        // Tokens of the server's own key have the names that the operator gives them, so only an issuer's are checked.
        let namesMatter = issuer != nil
        let hasWarned = NIOLockedValueBox(false)
        return { token in
            do throws(TokenError) {
                let claims = try await verifier.verify(token)
                if namesMatter, claims.firstName == nil, claims.lastName == nil, !hasWarned.exchange(with: true) {
                    logger.warning(
                        """
                        a token has no names, so its user is shown without a name. Configure the issuer to add the \
                        claims first_name, last_name and email to its session tokens
                        """)
                }
                return claims
            } catch .keysUnavailable {
                throw Problem(.serviceUnavailable, DeuceDiary.errorMessages.unavailable).retry(afterSeconds: 5)
            } catch {
                logger.debug("a token was refused", metadata: ["reason": "\(error)"])
                return nil
            }
        }
    }
}

extension ConcordAPI {
    static func deuceDiary(_ settings: DeuceDiarySettings = .init()) -> ConcordAPI {
        ConcordAPI(
            hosted: settings.hosted, hasSocket: true, examples: DeuceDiaryExamples.all,
            sentence: """
                Groups of friends and their log, pictures, and a live socket. Users come from an issuer such as Clerk.
                """,
            steps: [
                "Make a token, in a terminal on the server: `concord deuce-diary token create --user user_john`.",
                "Sign in: paste the token below.", "Try: send `createGroup`, then `logDeuce`.",
            ],
            signIn: """
                Tokens are those of the app's issuer. For development the operator makes one: \
                `concord deuce-diary token create --user user_john`.
                """,
            check: .issued(
                HostedDeuceDiary.issuerKey, given: { DeuceDiaryScenarios.checklist(.given($0)) },
                making: { issuer in
                    DeuceDiaryScenarios.checklist(
                        .issuer { bearer in
                            try issuer.sign(
                                subject: bearer.subject, email: bearer.email, firstName: bearer.firstName,
                                lastName: bearer.lastName, lifetime: .seconds(3600))
                        })
                }),
            commands: DeuceDiaryCommands.self)
    }
}

extension NIOLockedValueBox {
    /// Sets a value, and returns the previous one.
    fileprivate func exchange(with value: Value) -> Value where Value: Sendable {
        withLockedValue { current in
            defer { current = value }
            return current
        }
    }
}
