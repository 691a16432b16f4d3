import ArgumentParser
import DeuceDiaryService

/// The commands `concord deuce-diary …`.
struct DeuceDiaryCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deuce-diary", abstract: "Administer Deuce Diary: tokens of its users and the list of locations.",
        subcommands: [DeuceDiaryToken.self, DeuceDiaryLocation.self])
}

struct DeuceDiaryLocation: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "location", abstract: "Administer the locations that users have added.",
        subcommands: [DeleteLocation.self])

    struct DeleteLocation: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete", abstract: "Delete a location that a user has added.",
            discussion: """
                concord deuce-diary location delete "Dr. X's clinic"

                The list is public: it can be read without a token. Entries that name the location keep their text. \
                The eight default locations cannot be deleted. The server may be running.
                """)

        @Argument(help: "The location's name, in upper or lower case.")
        var name: String

        @OptionGroup var place: DatabaseOptions

        func run() async throws {
            try await place.perform(DeuceDiaryService.DeleteLocation(name), on: .deuceDiary())
        }
    }
}
