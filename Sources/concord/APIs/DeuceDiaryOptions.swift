import ArgumentParser
import DeuceDiaryService
import Foundation
import Identity

/// The options of Deuce Diary alone, whose users sign in with another service.
struct DeuceDiaryOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The issuer whose tokens are accepted, as in claim iss: a service that signs tokens with RS256, such as "
                + "Clerk. Tokens of 'concord deuce-diary token create' are always accepted. [CONCORD_DEUCE_DIARY_ISSUER] "
                + "(default: none)",
            valueName: "url"))
    var deuceDiaryIssuer: String?

    @Option(
        help: ArgumentHelp(
            "The URL of the issuer's public keys. [CONCORD_DEUCE_DIARY_KEY_SET] "
                + "(default: <issuer>/.well-known/jwks.json)",
            valueName: "url"))
    var deuceDiaryKeySet: String?

    @Option(
        help: ArgumentHelp(
            "An accepted value of claim azp in the issuer's tokens: a web client's origin. With this option, tokens "
                + "without azp are refused, and those of native apps may have none. Repeatable. "
                + "[CONCORD_DEUCE_DIARY_PARTIES, separated by commas] (default: any value, or none)",
            valueName: "party"))
    var deuceDiaryParty: [String] = []

    @Flag(
        help: """
            Accept the issuer's tokens of sessions that are pending: users who have signed in and still have something to \
            do, such as to choose an organization. [CONCORD_DEUCE_DIARY_ALLOW_PENDING_SESSIONS=1]
            """)
    var deuceDiaryAllowPendingSessions = false

    @Option(
        help: ArgumentHelp(
            "The clients that may listen to a group. open: any client that knows its id, as in the contract; a socket "
                + "that is opened with a token receives only what its user may see. member: only the group's members, "
                + "with a token. [CONCORD_DEUCE_DIARY_SOCKETS] (default: open)",
            valueName: "open|member"))
    var deuceDiarySockets: DeuceDiaryService.SocketAuthentication?

    @Option(
        help: ArgumentHelp(
            "The URL to which invite links redirect a browser, with {inviteId} in it. [CONCORD_DEUCE_DIARY_REDIRECT] "
                + "(default: deucediary://join/{inviteId})",
            valueName: "url"))
    var deuceDiaryRedirect: String?

    @Option(
        help: ArgumentHelp(
            "The URL at which the app's store offers the app: the page of an invite shows it, which browsers see where "
                + "--app-id names an app. [CONCORD_DEUCE_DIARY_APP_STORE] (default: none)",
            valueName: "url"))
    var deuceDiaryAppStore: String?

    @Option(
        help: ArgumentHelp(
            "The number of requests and sockets in a minute for each user, and for each address without a valid token. "
                + "[CONCORD_DEUCE_DIARY_RATE_LIMIT] (default: no limit)",
            valueName: "requests"))
    var deuceDiaryRateLimit: Int?

    func settings(_ environment: Environment) throws -> DeuceDiarySettings {
        let redirect = try environment.value(
            deuceDiaryRedirect, "CONCORD_DEUCE_DIARY_REDIRECT", { $0 }, default: "deucediary://join/{inviteId}")
        guard redirect.contains("{inviteId}"), redirect.contains(":"), redirect.utf8.allSatisfy({ 0x21...0x7E ~= $0 })
        else { throw ValidationError("'\(redirect)' is not a URL that contains {inviteId}") }
        return DeuceDiarySettings(
            issuer: try issuer(environment),
            sockets: try environment.value(
                deuceDiarySockets, "CONCORD_DEUCE_DIARY_SOCKETS",
                DeuceDiaryService.SocketAuthentication.init(rawValue:), default: .open),
            joinRedirect: redirect, appStore: try appStore(environment), requestsPerMinute: try rateLimit(environment))
    }

    private func appStore(_ environment: Environment) throws -> String? {
        let text = try environment.value(
            deuceDiaryAppStore, "CONCORD_DEUCE_DIARY_APP_STORE", { $0 }, default: "", shown: "none")
        guard !text.isEmpty else { return nil }
        let url = URLComponents(string: text)
        guard url?.scheme?.lowercased() == "https", url?.host?.isEmpty == false,
            text.utf8.allSatisfy({ 0x21...0x7E ~= $0 })
        else { throw ValidationError("'\(text)' is not a URL of the app's store: it begins with https://") }
        return text
    }

    /// Refuses the URL of the app's store where no app is named, because no browser would see it.
    func requireApp(_ hasApp: Bool, _ environment: Environment) throws {
        let isSet =
            deuceDiaryAppStore?.isEmpty == false
            || environment.variables["CONCORD_DEUCE_DIARY_APP_STORE"]?.isEmpty == false
        guard !isSet || hasApp else {
            throw ValidationError(
                "--deuce-diary-app-store needs the app whose links are opened: name it with --app-id deuce-diary=ID")
        }
    }

    private func rateLimit(_ environment: Environment) throws -> Int? {
        let requests = try environment.value(
            deuceDiaryRateLimit, "CONCORD_DEUCE_DIARY_RATE_LIMIT", { Int($0) }, default: Int.max, shown: "no limit")
        guard requests >= 1 else {
            throw ValidationError("The number of requests in a minute must be 1 or more, not \(requests)")
        }
        return requests == .max ? nil : requests
    }

    private func issuer(_ environment: Environment) throws -> DeuceDiarySettings.Issuer? {
        let name = try environment.value(deuceDiaryIssuer, "CONCORD_DEUCE_DIARY_ISSUER", { $0 }, default: "")
        let keySet = try environment.value(deuceDiaryKeySet, "CONCORD_DEUCE_DIARY_KEY_SET", { $0 }, default: "")
        let parties = environment.list(deuceDiaryParty, "CONCORD_DEUCE_DIARY_PARTIES")
        let allowsPending = try environment.value(
            deuceDiaryAllowPendingSessions ? true : nil, "CONCORD_DEUCE_DIARY_ALLOW_PENDING_SESSIONS",
            { ["1": true, "0": false][$0] }, default: false)
        guard !name.isEmpty else {
            guard keySet.isEmpty, parties.isEmpty, !allowsPending else {
                throw ValidationError(
                    """
                    --deuce-diary-key-set, --deuce-diary-party and --deuce-diary-allow-pending-sessions need \
                    --deuce-diary-issuer
                    """)
            }
            return nil
        }
        guard name != LocalIssuer.name else {
            throw ValidationError("'\(name)' is the name of this server's own issuer")
        }
        let trimmed = name.hasSuffix("/") ? String(name.dropLast()) : name
        do {
            let url = try KeySetURL(keySet.isEmpty ? trimmed + "/.well-known/jwks.json" : keySet)
            return .init(
                name: name, keySet: url, authorizedParties: Set(parties), allowsPendingSessions: allowsPending)
        } catch {
            throw ValidationError("\(error)")
        }
    }
}

extension DeuceDiaryService.SocketAuthentication: ExpressibleByArgument {}
