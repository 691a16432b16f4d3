import ArgumentParser
import CBuild

@main
struct Concord: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "concord",
        abstract: "Mobile backends, exactly to their published API contracts.",
        version: "0.1.0 (commit \(String(cString: concord_commit)), \(build) build)",
        subcommands: [Serve.self, HealthCheck.self, Check.self, Token.self, Admin.self]
            + ConcordAPI.all.compactMap(\.own) + [
                Import.self, Export.self,
            ])

    #if DEBUG
    private static let build = "debug"
    #else
    private static let build = "release"
    #endif
}
