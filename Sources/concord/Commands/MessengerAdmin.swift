import ArgumentParser
import MessengerService

struct MessengerAdmin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "messenger",
        abstract: "Read what users of Messenger have reported.",
        discussion: """
            concord admin messenger --reports | jq

            A line of JSON for each report, oldest first: who reports whom or which message, and why. What a message said \
            is as it was then. The server may be running.
            """)

    @Flag(help: "Print the reports.")
    var reports = false

    @Option(help: ArgumentHelp("Only those behind this one.", valueName: "id"))
    var after: Int64 = 0

    @OptionGroup var place: DatabaseOptions

    func validate() throws {
        guard reports else { throw ValidationError("What? --reports") }
    }

    func run() async throws {
        try await place.perform(MessengerService.PrintReports(after: after), on: .messenger)
    }
}
