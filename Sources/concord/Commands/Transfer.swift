import ArgumentParser

/// `concord import`
struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Bring data into an API.", subcommands: ConcordAPI.all.compactMap(\.importing))
}

/// `concord export`
struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Take an account's data out of an API.", subcommands: ConcordAPI.all.compactMap(\.exporting))
}
