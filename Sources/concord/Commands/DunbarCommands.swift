import ArgumentParser
import DunbarService

/// The commands `concord dunbar …`.
struct DunbarCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dunbar", abstract: "Administer Dunbar: its admins, and its users' sessions.",
        subcommands: [Promote.self, Demote.self, SignOutEverybody.self])

    struct Promote: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "promote", abstract: "Make users admins.",
            discussion: """
                concord dunbar promote alice

                Admins see every post, and may change every profile and delete every post; searches do not show them. \
                A change takes effect with the user's next request. The server may be running.
                """)

        @Argument(help: ArgumentHelp("The usernames, in upper or lower case.", valueName: "user"))
        var users: [String]

        @OptionGroup var place: DatabaseOptions

        func run() async throws { try await place.perform(DunbarService.Promote(users), on: .dunbar()) }
    }

    struct Demote: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "demote", abstract: "Take the rights of admins away.",
            discussion: "The change takes effect with the user's next request. The server may be running.")

        @Argument(help: ArgumentHelp("The usernames, in upper or lower case.", valueName: "user"))
        var users: [String]

        @OptionGroup var place: DatabaseOptions

        func run() async throws { try await place.perform(DunbarService.Demote(users), on: .dunbar()) }
    }

    struct SignOutEverybody: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "sign-out-everybody", abstract: "End all sessions.",
            discussion: """
                Within a second, every session has ended on every node, and users must sign in again. Nothing else \
                is changed. The server may be running.
                """)

        @OptionGroup var place: DatabaseOptions

        func run() async throws { try await place.perform(DunbarService.SignOutEverybody(), on: .dunbar()) }
    }
}
