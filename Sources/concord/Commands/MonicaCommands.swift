import ArgumentParser
import Backend
import Contract
import MonicaService

/// The commands `concord monica …`.
struct MonicaCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "monica",
        abstract: "Administer Monica: personal access tokens, apps, accounts, and contacts in and out.",
        subcommands: [
            MonicaToken.self, MonicaCode.self, MonicaApp.self, MonicaAccount.self, MonicaImport.self,
            MonicaExport.self,
        ])
}

/// The commands `concord monica token …`.
struct MonicaToken: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Create, list and revoke personal access tokens.",
        subcommands: [Create.self, List.self, Revoke.self])

    enum Dialect: String, CaseIterable, ExpressibleByArgument {
        case contract, monica4
    }

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
        var dialect = Dialect.contract

        @OptionGroup var place: DatabaseOptions

        func validate() throws {
            for text in [account, name] where !(1...255 ~= text.unicodeScalars.count) || text.contains("\0") {
                throw ValidationError("--account and --name must have 1 to 255 characters")
            }
        }

        func run() async throws {
            try await place.perform(
                MonicaService.CreateToken(
                    account: account, email: email, token: name, dialect: .init(rawValue: dialect.rawValue)),
                on: .monica())
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List tokens: number, account, name, times of creation and last use, monica4."
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

/// The command `concord monica code`.
struct MonicaCode: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "code", abstract: "Make a code with which a person signs in to an app, and print only the code.",
        discussion: """
            The code is valid once, for 10 minutes, at the page where an app asks its user to sign in. A new code replaces \
            the one before. The server may be running.
            """)

    @Option(help: "The account's name.")
    var account: String

    @OptionGroup var place: DatabaseOptions

    func run() async throws { try await place.perform(MonicaService.CreateCode(account: account), on: .monica()) }
}

/// The commands `concord monica app …`.
struct MonicaApp: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app", abstract: "Register, list and remove apps that people sign in to with OAuth 2.",
        subcommands: [Register.self, List.self, Remove.self])

    struct Register: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "register", abstract: "Register an app, and print its client id and its secret.",
            discussion: """
                concord monica app register --name "Monica for Android" --redirect "monica://auth"

                The app then asks its users to sign in at /oauth/authorize, and gets tokens at /oauth/token. The secret is \
                shown once; the server only stores its digest. The server may be running.
                """)

        @Option(help: "The name that people see when they sign in, of 1 to 255 characters.")
        var name: String

        @Option(help: "The URL to which the app wants to be answered, exactly as the app sends it.")
        var redirect: String

        @Flag(help: "Give the app no secret. It must use PKCE then (RFC 7636).")
        var withoutSecret = false

        @OptionGroup var place: DatabaseOptions

        func validate() throws {
            guard 1...255 ~= name.unicodeScalars.count, !name.contains("\0") else {
                throw ValidationError("--name must have 1 to 255 characters")
            }
        }

        func run() async throws {
            try await place.perform(
                MonicaService.RegisterApp(name, redirect: redirect, hasSecret: !withoutSecret), on: .monica())
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List apps: number, name, client id, redirect URL, number of tokens.")

        @OptionGroup var listing: ListOptions
        @OptionGroup var place: DatabaseOptions

        func run() async throws {
            try await place.perform(MonicaService.ListApps(format: listing.format), on: .monica())
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove", abstract: "Remove an app, by its number in the list, and revoke its tokens.",
            discussion: "The server may be running: it refuses the tokens within a second.")

        @Argument(help: "The app's number.")
        var number: Int64

        @OptionGroup var place: DatabaseOptions

        func run() async throws { try await place.perform(MonicaService.RemoveApp(number), on: .monica()) }
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
