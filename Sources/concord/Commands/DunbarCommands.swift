import ArgumentParser
import DunbarService

/// The commands `concord dunbar …`.
struct DunbarCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dunbar", abstract: "Administer Dunbar: its admins, its users' reports and sessions.",
        subcommands: [Promote.self, Demote.self, Reports.self, SignOutEverybody.self])

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

    struct Reports: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "reports", abstract: "Print the newest 1,000 reports of users, the newest first.",
            discussion: """
                Users report posts; a report removes nothing. Each has a copy of the post's text, and is kept for 90 \
                days after the post is deleted. The server may be running.
                """)

        @OptionGroup var listing: ListOptions
        @OptionGroup var place: DatabaseOptions

        func run() async throws {
            try await place.perform(DunbarService.PrintReports(format: listing.format), on: .dunbar())
        }
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
