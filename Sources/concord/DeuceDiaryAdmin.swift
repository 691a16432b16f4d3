import ArgumentParser
import DeuceDiaryAPI
import DeuceDiaryService

struct DeuceDiaryAdmin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deuce-diary", abstract: "Look after Deuce Diary's list of locations.",
        subcommands: [DeuceDiaryLocation.self])
}

struct DeuceDiaryLocation: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "location", abstract: "Delete a location from everybody's list.",
        subcommands: [DeleteLocation.self])

    struct DeleteLocation: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete", abstract: "Delete a location that a user has added.",
            discussion: """
                concord deuce-diary location delete "Dr. X's clinic"

                The list is public: anybody reads it without a token. Entries that name the location keep their text. The \
                eight default locations stay. The server may be running.
                """)

        @Argument(help: "The location's name, in any case.")
        var name: String

        @OptionGroup var place: AdminPlace

        func run() async throws {
            let result = try await place.open(
                DeuceDiary.name, "Deuce Diary", DeuceDiaryService.schema, besideServer: true
            ) { try await DeuceDiaryService.deleteLocation(name, in: $0) }
            switch result {
            case .deleted: print("\(name.debugDescription) is deleted")
            case .unknown: throw ValidationError("There is no location \(name.debugDescription)")
            case .isDefault: throw ValidationError("\(name.debugDescription) is a default location, which stays")
            }
        }
    }
}
