import ArgumentParser
import GTSDService

/// The commands `concord gtsd …`.
struct GTSDCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gtsd", abstract: "Administer GTSD: its accounts and sessions.",
        subcommands: [Activate.self, Deactivate.self, SignOutEverybody.self])

    struct Activate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "activate", abstract: "Switch accounts on again.", discussion: "The server may be running.")

        @Argument(
            help: ArgumentHelp("The e-mail addresses of the accounts, in upper or lower case.", valueName: "email"))
        var accounts: [String]

        @OptionGroup var place: DatabaseOptions

        func run() async throws { try await place.perform(GTSDService.Activate(accounts), on: .gtsd()) }
    }

    struct Deactivate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "deactivate", abstract: "Switch accounts off.",
            discussion: """
                concord gtsd deactivate anna@example.com

                While an account is switched off, no one can sign in to it, and requests of its sessions are refused \
                within a second with 403 "Account is deactivated". Its data is kept. The server may be running.
                """)

        @Argument(
            help: ArgumentHelp("The e-mail addresses of the accounts, in upper or lower case.", valueName: "email"))
        var accounts: [String]

        @OptionGroup var place: DatabaseOptions

        func run() async throws { try await place.perform(GTSDService.Deactivate(accounts), on: .gtsd()) }
    }

    struct SignOutEverybody: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "sign-out-everybody", abstract: "End all sessions.",
            discussion: """
                Within a second, every session has ended on every node, and users must sign in again. Nothing else \
                is changed. The server may be running.
                """)

        @OptionGroup var place: DatabaseOptions

        func run() async throws { try await place.perform(GTSDService.SignOutEverybody(), on: .gtsd()) }
    }
}
