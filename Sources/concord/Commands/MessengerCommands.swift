import ArgumentParser
import MessengerService

/// The commands `concord messenger …`.
struct MessengerCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "messenger", abstract: "Administer Messenger: its users' sessions.",
        subcommands: [SignOutEverybody.self])

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
