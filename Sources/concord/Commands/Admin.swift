import ArgumentParser

struct Admin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Do what only an operator may.", subcommands: ConcordAPI.all.compactMap(\.admin))
}
