import ArgumentParser
import Backend
import Contract
import MonicaService

/// The commands `concord monica …`.
struct MonicaCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "monica",
        abstract: "Administer Monica: personal access tokens, accounts, and contacts in and out.",
        subcommands: [MonicaToken.self, MonicaAccount.self, MonicaImport.self, MonicaExport.self])
}

/// The commands `concord monica token …`.
struct MonicaToken: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Create, list and revoke personal access tokens.",
        subcommands: [Create.self, List.self, Revoke.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "create", abstract: "Create a token, and print only the token.",
            discussion: """
                TOKEN=$(concord monica token create --account alice)

                The token is shown once; the server only stores its digest. The account is created when there is none \
                of that name. The server may be running.
                """)

        @Option(help: "The account's name, of 1 to 255 characters.")
        var account: String

        @Option(help: "The owner's e-mail address, for a new account.")
        var email = ""

        @Option(help: "A name that distinguishes the account's tokens.")
        var name = "command line"

        @Option(
            help: ArgumentHelp(
                "The form of the answers: contract, or monica4 for apps that were written for Monica 4.",
                valueName: "form"))
        var dialect = TokenDialect.contract

        @OptionGroup var place: DatabaseOptions

        func validate() throws {
            for text in [account, name] where !(1...255 ~= text.unicodeScalars.count) || text.contains("\0") {
                throw ValidationError("--account and --name must have 1 to 255 characters")
            }
        }

        func run() async throws {
            try await place.perform(
                MonicaService.CreateToken(account: account, email: email, token: name, dialect: dialect), on: .monica())
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List tokens: number, account, name, time of creation, time of the last use, and monica4."
        )

        @Option(help: "List only the tokens of this account.")
        var account: String?

        @OptionGroup var listing: ListOptions
        @OptionGroup var place: DatabaseOptions

        func run() async throws {
            try await place.perform(
                MonicaService.ListTokens(account: account, format: listing.format), on: .monica())
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "revoke", abstract: "Revoke a token, by its number in the list.",
            discussion: "The server may be running: it refuses the token within a second.")

        @Argument(help: "The token's number.")
        var number: Int

        @OptionGroup var place: DatabaseOptions

        func run() async throws { try await place.perform(MonicaService.RevokeToken(number), on: .monica()) }
    }
}

/// The commands `concord monica account …`.
struct MonicaAccount: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "account", abstract: "Set where and when an account is reminded.", subcommands: [Set.self])

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set", abstract: "Change an account's settings, and print them.",
            discussion: """
                concord monica account set --account alice --email alice@example.com --zone Europe/Paris --reminders-at 8

                E-mails about reminders go to the account's address, at its hour of the zone's days. What is not \
                given stays as it is; a new account has no address, and is reminded at 9 o'clock, UTC. The server \
                may be running.
                """)

        @Option(help: "The account's name.")
        var account: String

        @Option(help: "The owner's e-mail address; an empty one sends no e-mails.")
        var email: String?

        @Option(help: "The time zone of the account's days, such as Europe/Paris.")
        var zone: String?

        @Option(help: ArgumentHelp("The hour of e-mails about reminders, from 0 to 23.", valueName: "hour"))
        var remindersAt: Int?

        @OptionGroup var place: DatabaseOptions

        func validate() throws {
            if let remindersAt, !(0...23 ~= remindersAt) { throw ValidationError("--reminders-at must be 0 to 23") }
            if let email, !email.isEmpty, !EmailAddress.isValid(email) {
                throw ValidationError("--email must be an e-mail address, not '\(email)'")
            }
        }

        func run() async throws {
            let settings = MonicaService.AccountSettings(email: email, zone: zone, reminderHour: remindersAt)
            try await place.perform(MonicaService.SetAccount(account: account, settings), on: .monica())
        }
    }
}

extension TokenDialect: ExpressibleByArgument {}
