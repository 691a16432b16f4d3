import ArgumentParser
import MessengerService

struct MessengerAdmin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "messenger",
        abstract: "Print the reports of Messenger's users.",
        discussion: """
            concord admin messenger --reports | jq

            Prints a line of JSON for each report, the oldest first: the reporter, the reported user or message, and \
            the reason. A message has its content at the time of the report. The server may be running.
            """)

    @Flag(help: "Print the reports.")
    var reports = false

    @Option(help: ArgumentHelp("Print only reports after this one.", valueName: "id"))
    var after: Int64 = 0

    @OptionGroup var place: DatabaseOptions

    func validate() throws {
        guard reports else { throw ValidationError("Give --reports") }
    }

    func run() async throws {
        try await place.perform(MessengerService.PrintReports(after: after), on: .messenger)
    }
}
