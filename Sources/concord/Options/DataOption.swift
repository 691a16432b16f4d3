import ArgumentParser
import Foundation

/// The data folder of a server, and the variables that a command takes its settings from. Every command that works on a
/// server's data has these options.
struct DataOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The data folder: databases, uploaded files, generated keys. Commands other than serve use the installed "
                + "service's folder, /var/lib/concord, where there is no ./data. [CONCORD_DATA] (default: ./data)",
            valueName: "folder"))
    var data: String?

    @Option(
        help: ArgumentHelp(
            "A file of variables, as systemd reads it: lines NAME=VALUE. Variables of the process have precedence. "
                + "Commands that use the installed service's folder read /etc/concord/concord.env.",
            valueName: "file"))
    var envFile: String?

    /// Returns the variables of the process and of `--env-file`, for the server itself.
    ///
    /// - Throws: `ValidationError`, ``UnreadableSecret``.
    func ofServer() throws -> Environment { try Environment(reading: try Self.given(envFile)) }

    /// Returns the variables of a command that works on a server's data.
    ///
    /// - Throws: `ValidationError`, ``UnreadableSecret``.
    func environment(ledger: SettingsLedger? = nil) throws -> Environment {
        try Self.environment(data: data, file: envFile, ledger: ledger)
    }

    /// Returns the variables of a command. Without a data folder they are those of the installed service, which a line on
    /// standard error says.
    ///
    /// - Throws: `ValidationError`, ``UnreadableSecret``.
    static func environment(
        data: String? = nil, file: String? = nil, ledger: SettingsLedger? = nil
    ) throws -> Environment {
        let given = try given(file)
        let service = InstalledService.ofThisMachine(given)
        let isElsewhere = data != nil || !given["CONCORD_DATA", default: ""].isEmpty
        guard !isElsewhere, !FileManager.default.fileExists(atPath: standard), service.isInstalled else {
            return try Environment(reading: given, ledger: ledger)
        }
        FileHandle.standardError.say(
            "Using the installed service: data in \(service.folder), settings of \(file ?? service.settings)\n")
        return try Environment(
            reading: try file == nil
                ? service.completing(given) : given.merging(["CONCORD_DATA": service.folder]) { $1 },
            ledger: ledger)
    }

    /// Returns the path of the data folder.
    func folder(_ environment: Environment) throws -> String {
        try environment.value(data, "CONCORD_DATA", { $0 }, default: Self.standard)
    }

    private static let standard = "./data"

    private static func given(_ file: String?) throws -> [String: String] {
        let process = ProcessInfo.processInfo.environment
        guard let file else { return process }
        return try EnvironmentFile(file).variables.merging(process) { file, own in own.isEmpty ? file : own }
    }
}
