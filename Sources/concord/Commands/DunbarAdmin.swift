import ArgumentParser
import DunbarService

struct DunbarAdmin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dunbar",
        abstract: "Make users of Dunbar admins or remove that right; print users' reports.",
        discussion: """
            concord admin dunbar --promote alice
            concord admin dunbar --reports

            Admins see every post, and may change every profile and delete every post; searches do not show them. A \
            change takes effect with the user's next request.

            Users report posts; a report removes nothing. Each has a copy of the post's text, and is kept for 90 days \
            after the post is deleted. The server may be running.
            """)

    @Option(
        help: ArgumentHelp(
            "Make this user an admin; the username in upper or lower case. Repeatable.", valueName: "name"))
    var promote: [String] = []

    @Option(help: ArgumentHelp("Remove this user's admin right. Repeatable.", valueName: "name"))
    var demote: [String] = []

    @Flag(help: "Print the newest 1,000 reports, the newest first.")
    var reports = false

    @OptionGroup var place: DatabaseOptions

    func validate() throws {
        guard !promote.isEmpty || !demote.isEmpty || reports else {
            throw ValidationError("Give --promote NAME, --demote NAME or --reports")
        }
    }

    func run() async throws {
        try await place.perform(
            DunbarService.Administer(promote: promote, demote: demote, reports: reports), on: .dunbar())
    }
}
