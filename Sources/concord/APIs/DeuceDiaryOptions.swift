import ArgumentParser
import DeuceDiaryService
import Identity

/// The options of Deuce Diary alone, whose users sign in with another service.
struct DeuceDiaryOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Whose tokens are taken, as claim iss has it: an issuer of RS256 tokens such as Clerk. Those that "
                + "'concord token deuce-diary' makes are taken too. [CONCORD_DEUCE_DIARY_ISSUER] (default: none)",
            valueName: "url"))
    var deuceDiaryIssuer: String?

    @Option(
        help: ArgumentHelp(
            "Where the issuer publishes its keys. [CONCORD_DEUCE_DIARY_KEY_SET] "
                + "(default: <issuer>/.well-known/jwks.json)",
            valueName: "url"))
    var deuceDiaryKeySet: String?

    @Option(
        help: ArgumentHelp(
            "What claim azp of the issuer's tokens may be: a web client's origin. A token without azp is refused then, "
                + "and those of native apps may have none. Repeatable. "
                + "[CONCORD_DEUCE_DIARY_PARTIES, separated by commas] (default: anything, or none)",
            valueName: "party"))
    var deuceDiaryParty: [String] = []

    @Option(
        help: ArgumentHelp(
            "Who may listen to a group. open: anybody who knows its id, as the contract has it; a socket that is "
                + "opened with a token hears only what its user may. member: the group's members alone, with a token. "
                + "[CONCORD_DEUCE_DIARY_SOCKETS] (default: open)",
            valueName: "open|member"))
    var deuceDiarySockets: DeuceDiaryService.SocketAuthentication?

    @Option(
        help: ArgumentHelp(
            "Where invite links lead a browser, with {inviteId} in it. [CONCORD_DEUCE_DIARY_REDIRECT] "
                + "(default: deucediary://join/{inviteId})",
            valueName: "url"))
    var deuceDiaryRedirect: String?

    @Option(
        help: ArgumentHelp(
            "How many requests and sockets one user may send in a minute, and one address without a good token. "
                + "[CONCORD_DEUCE_DIARY_RATE_LIMIT] (default: any number)",
            valueName: "requests"))
    var deuceDiaryRateLimit: Int?

    func settings(_ environment: Environment) throws -> DeuceDiarySettings {
        let redirect = try environment.value(
            deuceDiaryRedirect, "CONCORD_DEUCE_DIARY_REDIRECT", { $0 }, default: "deucediary://join/{inviteId}")
        guard redirect.contains("{inviteId}"), redirect.contains(":"), redirect.utf8.allSatisfy({ 0x21...0x7E ~= $0 })
        else { throw ValidationError("'\(redirect)' is no URL with {inviteId} in it") }
        return DeuceDiarySettings(
            issuer: try issuer(environment),
            sockets: try environment.value(
                deuceDiarySockets, "CONCORD_DEUCE_DIARY_SOCKETS",
                DeuceDiaryService.SocketAuthentication.init(rawValue:), default: .open),
            joinRedirect: redirect, requestsPerMinute: try rateLimit(environment))
    }

    private func rateLimit(_ environment: Environment) throws -> Int? {
        let requests = try environment.value(
            deuceDiaryRateLimit, "CONCORD_DEUCE_DIARY_RATE_LIMIT", { Int($0) }, default: Int.max)
        guard requests >= 1 else { throw ValidationError("\(requests) requests a minute are none") }
        return requests == .max ? nil : requests
    }

    private func issuer(_ environment: Environment) throws -> DeuceDiarySettings.Issuer? {
        let name = try environment.value(deuceDiaryIssuer, "CONCORD_DEUCE_DIARY_ISSUER", { $0 }, default: "")
        let keySet = try environment.value(deuceDiaryKeySet, "CONCORD_DEUCE_DIARY_KEY_SET", { $0 }, default: "")
        let parties = environment.list(deuceDiaryParty, "CONCORD_DEUCE_DIARY_PARTIES")
        guard !name.isEmpty else {
            guard keySet.isEmpty, parties.isEmpty else {
                throw ValidationError("--deuce-diary-issuer is needed: a key set and parties are an issuer's")
            }
            return nil
        }
        guard name != LocalIssuer.name else { throw ValidationError("'\(name)' is this server's own issuer") }
        let trimmed = name.hasSuffix("/") ? String(name.dropLast()) : name
        do {
            let url = try KeySetURL(keySet.isEmpty ? trimmed + "/.well-known/jwks.json" : keySet)
            return .init(name: name, keySet: url, authorizedParties: Set(parties))
        } catch {
            throw ValidationError("\(error)")
        }
    }
}

extension DeuceDiaryService.SocketAuthentication: ExpressibleByArgument {}
