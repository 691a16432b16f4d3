import ArgumentParser
import GTSDService

struct GTSDAdmin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gtsd",
        abstract: "Switch an account of GTSD off, or on again.",
        discussion: """
            concord admin gtsd --deactivate anna@example.com

            While an account is off, nobody signs in to it, and whoever is signed in is refused within a second with \
            403 "Account is deactivated". All that belongs to it stays. The server may be running.
            """)

    @Option(help: ArgumentHelp("Switch this account off, by its address in any case. Repeatable.", valueName: "email"))
    var deactivate: [String] = []

    @Option(help: ArgumentHelp("Switch this account on again. Repeatable.", valueName: "email"))
    var activate: [String] = []

    @OptionGroup var place: DatabaseOptions

    func validate() throws {
        guard !deactivate.isEmpty || !activate.isEmpty else {
            throw ValidationError("Whom? --deactivate EMAIL, --activate EMAIL")
        }
    }

    func run() async throws {
        try await place.perform(GTSDService.SwitchAccounts(off: deactivate, on: activate), on: .gtsd)
    }
}
