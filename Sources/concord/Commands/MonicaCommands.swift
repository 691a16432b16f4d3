import ArgumentParser
import MonicaService

/// The commands `concord monica …`.
struct MonicaCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "monica", abstract: "Administer Monica: personal access tokens, and contacts in and out.",
        subcommands: [MonicaToken.self, MonicaImport.self, MonicaExport.self])
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

        @OptionGroup var place: DatabaseOptions

        func validate() throws {
            for text in [account, name] where !(1...255 ~= text.unicodeScalars.count) || text.contains("\0") {
                throw ValidationError("--account and --name must have 1 to 255 characters")
            }
        }

        func run() async throws {
            try await place.perform(
                MonicaService.CreateToken(account: account, email: email, token: name), on: .monica)
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List tokens: number, account, name, time of creation, time of the last use."
        )

        @Option(help: "List only the tokens of this account.")
        var account: String?

        @OptionGroup var listing: ListOptions
        @OptionGroup var place: DatabaseOptions

        func run() async throws {
            try await place.perform(
                MonicaService.ListTokens(account: account, format: listing.format), on: .monica)
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "revoke", abstract: "Revoke a token, by its number in the list.",
            discussion: "The server may be running: it refuses the token within a second.")

        @Argument(help: "The token's number.")
        var number: Int

        @OptionGroup var place: DatabaseOptions

        func run() async throws { try await place.perform(MonicaService.RevokeToken(number), on: .monica) }
    }
}
