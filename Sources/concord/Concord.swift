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
            MailCommand.self, Backup.self, Restore.self, Move.self,
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
        do { command = try parseAsRoot() } catch { exit(withError: error) }
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
            let name = usage.prefix { !"<[-".contains($0) }.trimmingCharacters(in: .whitespaces)
            let lines = "Error: \(error.message)\nUsage: \(usage)\n  See '\(name) --help' for more information.\n"
            FileHandle.standardError.say(lines)
            exit(withError: ExitCode.validationFailure)
        } catch {
            exit(withError: error)
        }
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
