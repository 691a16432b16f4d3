import ArgumentParser
import Backend
import Foundation

/// The commands `concord operator …`.
struct OperatorLinks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "operator", abstract: "Sign in to the operator's page of a server that runs.",
        discussion: """
            concord operator link
            concord operator link --role moderate --name anna
            """,
        subcommands: [Link.self])

    struct Link: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "link", abstract: "Print an address that signs in to the operator's page, once.",
            discussion: """
                concord operator link
                concord operator link --role moderate --name anna
                concord operator link --url https://operator.example.com

                The address is valid for 15 minutes and one use, and signs a browser in for 12 hours. Whoever has it has the \
                role: give it to the person alone. A restart of the server signs everyone out.
                """)

        @Option(
            help: ArgumentHelp(
                "all, or moderate: to look after people and reports, and no more.", valueName: "all|moderate"))
        var role = OperatorRole.all

        @Option(help: ArgumentHelp("The name in the audit. By default that of your account here.", valueName: "name"))
        var name: String?

        @Option(
            help: ArgumentHelp(
                "The address at which the page is reached, behind a proxy. By default the one at which it listens.",
                valueName: "url"))
        var url: String?

        @OptionGroup var data: DataOption

        func validate() throws {
            if let name, let mistake = OperatorTexts.mistake(inName: name) {
                throw ValidationError("--name \(mistake)")
            }
            if let url, !["http://", "https://"].contains(where: url.hasPrefix) {
                throw ValidationError("--url must begin with http:// or https://, not '\(url)'")
            }
        }

        func run() async throws {
            let environment = try data.environment()
            let folder = try data.folder(environment)
            let client = OperatorClient(folder: folder, database: nil, environment: environment.variables)
            let isDone = try await client.ask(
                MakeOperatorLink(role, for: name, at: url), console: TerminalConsole(input: { nil }))
            guard isDone else {
                throw OperatorError(
                    "No server uses \(folder): the page is a part of a server that runs, so start it first")
            }
        }
    }
}

extension OperatorRole: ExpressibleByArgument {}
