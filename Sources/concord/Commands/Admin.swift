import ArgumentParser

struct Admin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Administer an API as its operator.", subcommands: ConcordAPI.all.compactMap(\.admin))
}
