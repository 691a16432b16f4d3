import ArgumentParser
import Backend
import CBuild
import Database
import Foundation

@main
struct Concord: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "concord",
        abstract: "Mobile backends, exactly to their published API contracts.",
        version: version,
        subcommands: [
            Serve.self, Config.self, Check.self, Describe.self, HealthCheck.self, Keys.self, AuditCommand.self,
            People.self, Reports.self, RegistrationCommand.self, BarCommand.self, OperatorLinks.self, MailCommand.self,
            Backup.self, Restore.self, Move.self,
        ] + ConcordAPI.all.map(\.commands)
    )

    /// Runs the command that the arguments name.
    ///
    /// An error that the command finds while it runs is a sentence and exit code 1. A wrong use of the command is exit
    /// code 64, with the usage of that command.
    static func main() async {
        // libpq would take settings from them, and no other thread reads the environment yet.
        for name in PostgreSQLEnvironment.variables { unsetenv(name) }
        var command: any ParsableCommand
        do { command = try parseAsRoot() } catch {
            guard let sentence = misspelt(CommandLine.arguments.dropFirst().first) else { exit(withError: error) }
            FileHandle.standardError.say(sentence)
            exit(withError: ExitCode.validationFailure)
        }
        // `serve` has a setting for the number of its threads.
        if !(command is Serve) { ProcessThreads.begin() }
        do {
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch let error as ValidationError {
            let usage = usageString(for: type(of: command))
            // The names of the command come before its arguments: `concord people remove-content <api> [<id> ...]`.
            let name = usage.split(separator: " ").prefix { !"<[-".contains($0.prefix(1)) }.joined(separator: " ")
            let lines = "Error: \(error.message)\nUsage: \(usage)\n  See '\(name) --help' for more information.\n"
            FileHandle.standardError.say(lines)
            exit(withError: ExitCode.validationFailure)
        } catch {
            exit(withError: error)
        }
    }

    /// Returns what to say of a first argument that is almost the name of a command; nil for any other.
    private static func misspelt(_ word: String?) -> String? {
        let names = configuration.subcommands.compactMap { $0.configuration.commandName }
        guard let word, !word.hasPrefix("-"), word != "help", !names.contains(word) else { return nil }
        let nearest = names.map { (name: $0, distance: Environment.distance($0, word)) }
            .min { ($0.distance, $0.name) < ($1.distance, $1.name) }
        guard let nearest, nearest.distance <= 2 else { return nil }
        return """
            Error: There is no command '\(word)'. Did you mean '\(nearest.name)'?
            Usage: concord <subcommand>
              See 'concord --help' for more information.

            """
    }

    static let number = "0.1.0"
    static let commit = String(cString: concord_commit)
    static let version = "\(number) (commit \(commit), \(build) build)"

    #if DEBUG
    private static let build = "debug"
    #else
    private static let build = "release"
    #endif
}
