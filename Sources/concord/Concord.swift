import ArgumentParser

@main
struct Concord: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "concord",
        abstract: "Mobile backends, exactly to their published API contracts.",
        version: "0.1.0",
        subcommands: [Serve.self, Check.self, Token.self, Admin.self] + ConcordAPI.all.compactMap(\.own) + [
            Import.self, Export.self,
        ])
}
