import ArgumentParser
import Backend
import DeuceDiaryService
import Foundation
import Identity

/// The commands `concord deuce-diary token …`.
struct DeuceDiaryToken: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Create tokens of users without an account at an issuer.",
        subcommands: [CreateDiaryToken.self])
}

struct CreateDiaryToken: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Create a token of a user, and print only the token.",
        discussion: """
            TOKEN=$(concord deuce-diary token create --user user_alice --name "Alice Doe")

            The token is signed with the server's own key, so no account with an issuer is needed. The server may be \
            running. The key is generated in the data folder on the first use, by this command or by the server; \
            CONCORD_DEUCE_DIARY_ISSUER_KEY (an RSA private key, as PEM or as base64 of its DER form) replaces it.
            """)

    @Option(help: "The id of the user, such as user_abc.")
    var user: String

    @Option(help: "The user's e-mail address.")
    var email: String?

    @Option(help: "The user's first name.")
    var firstName: String?

    @Option(help: "The user's last name.")
    var lastName: String?

    @Option(help: ArgumentHelp("The user's first and last name.", valueName: "first last"))
    var name: String?

    @Option(help: "The time for which the token is valid: a number and s, m, h or d.")
    var lifetime = Lifetime(seconds: 30 * 24 * 3600)

    @OptionGroup var data: DataOption

    func validate() throws {
        if name != nil, firstName != nil || lastName != nil {
            throw ValidationError("--name contains both names; leave out --first-name and --last-name")
        }
    }

    func run() async throws {
        let environment = try data.environment()
        let folder = try data.folder(environment)
        let keys = SecretKeys(folder: folder, environment: environment.variables)
        let issuer = try keys.issuer(HostedDeuceDiary.issuerKey)
        let names = name.map { $0.split(separator: " ", maxSplits: 1).map(String.init) }
        do {
            print(
                try issuer.sign(
                    subject: user, email: email, firstName: names?.first ?? firstName,
                    lastName: names?.dropFirst().first ?? lastName, lifetime: .seconds(lifetime.seconds)))
        } catch TokenError.malformed {
            throw ValidationError(
                "--user, --email and the names must have 1 to 255 characters each and no control characters")
        }
    }
}

extension SecretKeys {
    /// Returns the issuer of tokens that are signed with an RSA key.
    func issuer(_ key: HostedKey) throws(SecretKeyError) -> LocalIssuer {
        try localIssuer(key.name, variable: key.variable) { TimeSource.system.seconds }
    }
}

/// A duration as operators write it: `90s`, `15m`, `12h`, `30d`; at most ten years.
struct Lifetime: ExpressibleByArgument {
    let seconds: Int64

    init(seconds: Int64) { self.seconds = seconds }

    init?(argument: String) {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 24 * 3600]
        guard let unit = argument.last.flatMap({ units[$0] }), let count = Int64(argument.dropLast()),
            1...(10 * 365 * 24 * 3600 / unit) ~= count
        else { return nil }
        seconds = count * unit
    }

    var defaultValueDescription: String { "\(seconds / (24 * 3600))d" }
}
