import ArgumentParser
import GTSDService

struct GTSDAdmin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gtsd",
        abstract: "Deactivate accounts of GTSD, or reactivate them.",
        discussion: """
            concord admin gtsd --deactivate anna@example.com

            While an account is deactivated, no one can sign in to it, and requests of its sessions are refused within \
            a second with 403 "Account is deactivated". Its data is kept. The server may be running.
            """)

    @Option(
        help: ArgumentHelp(
            "Deactivate this account; the address in upper or lower case. Repeatable.", valueName: "email"))
    var deactivate: [String] = []

    @Option(help: ArgumentHelp("Reactivate this account. Repeatable.", valueName: "email"))
    var activate: [String] = []

    @OptionGroup var place: DatabaseOptions

    func validate() throws {
        guard !deactivate.isEmpty || !activate.isEmpty else {
            throw ValidationError("Give --deactivate EMAIL or --activate EMAIL")
        }
    }

    func run() async throws {
        try await place.perform(GTSDService.SwitchAccounts(off: deactivate, on: activate), on: .gtsd)
    }
}
