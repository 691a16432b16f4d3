import ArgumentParser
import Backend
import Foundation
import Logging

/// The command `concord backup`.
struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Make, list and verify backups.",
        discussion: """
            concord backup /backups --keep 7
            concord backup list /backups
            concord backup verify /backups

            A backup has the database and the uploaded files of every API, and the keys in the data folder. Keep it as \
            private as the data folder: anyone who has it can read everything and sign in as any user. The server may be \
            running; it makes backups by itself with `concord serve --backup-to`. `concord restore` restores one.
            """,
        subcommands: [MakeBackupCommand.self, ListBackups.self, VerifyBackup.self],
        defaultSubcommand: MakeBackupCommand.self)
}

struct MakeBackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "make",
        abstract: "Make a backup. This is what concord backup does without a verb.",
        discussion: """
            Prints a line for each API, and the backup's name. Files that an earlier backup at the same place has are not \
            copied again. A backup becomes visible when it is complete. On PostgreSQL it needs pg_dump of the server's \
            version or a newer one; POSTGRESQL_BIN names its folder if it is not found.
            """)

    @Argument(help: "The place: a folder, or s3://bucket/folder?endpoint=… with the credentials AWS_….")
    var place: String

    @Option(help: ArgumentHelp("Remove all but the newest backups.", valueName: "count"))
    var keep: Int?

    @OptionGroup var data: DatabaseOptions
    @OptionGroup var objects: ObjectsOptions

    func validate() throws {
        if let keep, keep < 1 { throw ValidationError("--keep must be 1 or more") }
    }

    func run() async throws {
        let environment = try data.data.environment()
        let command = MakeBackup(to: try BackupLocation(place), keep: keep, environment: environment.variables)
        let console = TerminalConsole(input: { nil })
        defer { console.bar.clear() }
        try await OperatorClient(
            folder: try data.folder(environment), database: try data.given(environment),
            environment: environment.variables
        ).perform(
            command, try data.settings(environment, objects), known: ConcordAPI.all.map(\.hosted), console: console)
    }
}

struct ListBackups: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the complete backups at a place, the oldest first.")

    @Argument(help: "The place: a folder, or s3://bucket/folder?endpoint=….")
    var place: String

    func run() async throws {
        try await withBackups(at: place) { backups in
            let entries = try await backups.list()
            if entries.isEmpty { print("No backups") }
            for entry in entries { print("\(entry.name)  \(entry.contents ?? "damaged: its manifest cannot be read")") }
        }
    }
}

struct VerifyBackup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Verify that a backup can be restored.",
        discussion: """
            Compares every file with its digest, and opens each database: SQLite checks the whole of it, and an archive of \
            PostgreSQL is read to its end. Prints what is wrong, and ends with 1 then.
            """)

    @Argument(help: "The place: a folder, or s3://bucket/folder?endpoint=….")
    var place: String

    @Argument(help: "The backup's name. By default the newest.")
    var name: String?

    func run() async throws {
        try await withBackups(at: place) { backups in
            let bar = ProgressBar()
            defer { bar.clear() }
            let (name, findings) = try await backups.verify(name) { bar.show($0, of: $1) }
            bar.clear()
            for finding in findings { print(finding) }
            guard findings.isEmpty else { throw OperatorError("The backup \(name) is damaged") }
            print("\(name) is complete and undamaged")
        }
    }
}

/// Runs a closure with the backups at a place.
func withBackups(at place: String, _ body: (Backups) async throws -> Void) async throws {
    let backups = try Backups(at: try BackupLocation(place), environment: try DataOption.environment().variables)
    let result: Result<Void, any Error>
    do { result = .success(try await body(backups)) } catch { result = .failure(error) }
    try await backups.close()
    try result.get()
}

extension DatabaseOptions {
    /// Returns the settings with which a command performs the work of a server itself.
    ///
    /// - Parameter objects: The place of the files, for commands that use them.
    func settings(_ environment: Environment, _ objects: ObjectsOptions? = nil) throws -> ServerSettings {
        var settings = ServerSettings(
            folder: try folder(environment), environment: environment.variables,
            logger: Logger(label: "concord") { StreamLogHandler.standardError(label: $0) })
        settings.database = try location(environment)
        settings.bus = try bus(environment)
        if let objects { settings.objects = try objects.place(environment) }
        settings.version = Concord.version
        return settings
    }
}
