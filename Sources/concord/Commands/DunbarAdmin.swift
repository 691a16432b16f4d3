import ArgumentParser
import DunbarService

struct DunbarAdmin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dunbar",
        abstract: "Make a user of Dunbar an admin, or no longer one; read what users report.",
        discussion: """
            concord admin dunbar --promote alice
            concord admin dunbar --reports

            Admins see every post, and may change every profile and delete every post; searches do not show them. It \
            holds from the next request on.

            Reports are of posts; nothing is removed by them. Each has a copy of the text, and stays for 90 days after its \
            post. The server may be running.
            """)

    @Option(help: ArgumentHelp("Make this user an admin, by username in any case. Repeatable.", valueName: "name"))
    var promote: [String] = []

    @Option(help: ArgumentHelp("Make this user no longer an admin. Repeatable.", valueName: "name"))
    var demote: [String] = []

    @Flag(help: "Print what users have reported: the newest 1,000 reports, newest first.")
    var reports = false

    @OptionGroup var place: DatabaseOptions

    func validate() throws {
        guard !promote.isEmpty || !demote.isEmpty || reports else {
            throw ValidationError("What? --promote NAME, --demote NAME, --reports")
        }
    }

    func run() async throws {
        try await place.perform(
            DunbarService.Administer(promote: promote, demote: demote, reports: reports), on: .dunbar())
    }
}
