import ArgumentParser

/// The command `concord import`.
struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Import data into an API.", subcommands: ConcordAPI.all.compactMap(\.importing))
}

/// The command `concord export`.
struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Export an account's data from an API.", subcommands: ConcordAPI.all.compactMap(\.exporting))
}
