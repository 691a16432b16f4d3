import ArgumentParser
import MessengerService

/// The commands `concord messenger …`.
struct MessengerCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "messenger", abstract: "Administer Messenger: its users' reports and sessions.",
        subcommands: [Reports.self, SignOutEverybody.self])

    struct Reports: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "reports", abstract: "Print the reports of users, the oldest first.",
            discussion: """
                concord messenger reports
                concord messenger reports --json | jq

                Each report has the reporter, the reported user or message, and the reason. A message has its content \
                at the time of the report. The server may be running.
                """)

        @Option(help: ArgumentHelp("Print only reports after this one.", valueName: "id"))
        var after: Int64 = 0

        @OptionGroup var listing: ListOptions
        @OptionGroup var place: DatabaseOptions

        func run() async throws {
            try await place.perform(
                MessengerService.PrintReports(after: after, format: listing.format), on: .messenger())
        }
    }

    struct SignOutEverybody: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "sign-out-everybody", abstract: "End all sessions.",
            discussion: """
                Within a second, every session and live socket has ended on every node, and users must sign in again. Nothing else \
                is changed. The server may be running.
                """)

        @OptionGroup var place: DatabaseOptions

        func run() async throws { try await place.perform(MessengerService.SignOutEverybody(), on: .messenger()) }
    }
}
