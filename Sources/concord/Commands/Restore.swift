import ArgumentParser
import Backend
import Foundation

/// The command `concord restore`.
struct Restore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Restore a backup into an empty place.",
        discussion: """
            concord restore /backups --data ./data
            concord restore /backups --name 2026-11-23T030000Z --data ./data --database postgres://… --objects s3://…

            The data folder must be empty or not exist, and so must the schemas in PostgreSQL and the folders in a bucket. \
            Everything is compared with its digest before a server could use it: a damaged backup is refused, and a \
            restore that is interrupted is begun again. Start the server with the same --data, --database and --objects.
            """)

    @Argument(help: "The place of the backups: a folder, or s3://bucket/folder?endpoint=….")
    var place: String

    @Option(help: "The backup's name. By default the newest.")
    var name: String?

    @OptionGroup var data: DatabaseOptions
    @OptionGroup var objects: ObjectsOptions

    func run() async throws {
        let environment = try data.data.environment()
        let settings = try data.settings(environment, objects)
        try await withBackups(at: place) { backups in
            let bar = ProgressBar()
            defer { bar.clear() }
            try await backups.restore(
                name, to: settings, known: ConcordAPI.all.map(\.hosted),
                reporting: { line in
                    bar.clear()
                    print(line)
                }, showing: { bar.show($0, of: $1) })
        }
    }
}
