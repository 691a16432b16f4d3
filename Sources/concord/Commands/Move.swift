import ArgumentParser
import Backend
import Foundation

/// The command `concord move`.
struct Move: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "move", abstract: "Move databases and files to another place.",
        discussion: """
            concord move --to postgres://… --data ./data
            concord move --to sqlite --database postgres://… --data ./data
            concord move messenger --objects-to s3://bucket?endpoint=… --data ./data

            The server must be stopped, on every node. A move that is interrupted goes on where it was when the command is \
            given again. At the end the rows of each table are counted and compared by digests, and so is every file. The \
            old database is kept under another name, and the old files stay where they are: remove them once the server \
            works at the new place. A place that has data already is refused.
            """)

    @Argument(help: "The APIs to move: \(ConcordAPI.names.joined(separator: ", ")). By default all.")
    var apis: [String] = []

    @Option(
        help: ArgumentHelp("The new place of the databases.", valueName: "sqlite|postgres://…"))
    var to: String?

    @Option(
        help: ArgumentHelp(
            "The new place of uploaded files; a bucket needs the credentials AWS_….",
            valueName: "local|s3://bucket?endpoint=…"))
    var objectsTo: String?

    @OptionGroup var data: DatabaseOptions
    @OptionGroup var objects: ObjectsOptions

    func validate() throws {
        for name in apis { _ = try ConcordAPI.named(name) }
        guard to != nil || objectsTo != nil else { throw ValidationError("Give --to or --objects-to") }
        if let to, DatabaseLocation(to) == nil {
            throw ValidationError("--to must be 'sqlite' or 'postgres://…', not '\(to)'")
        }
        if let objectsTo, Serve.store(objectsTo) == nil {
            throw ValidationError("--objects-to must be 'local' or 's3://bucket?endpoint=…', not '\(objectsTo)'")
        }
    }

    func run() async throws {
        let settings = try data.settings(try data.data.environment(), objects)
        let bar = ProgressBar()
        defer { bar.clear() }
        try await ServerMove(
            settings, known: ConcordAPI.all.map(\.hosted), database: to.flatMap { DatabaseLocation($0) },
            objects: objectsTo
        ).run(
            apis,
            reporting: { line in
                bar.clear()
                print(line)
            }, showing: { bar.show($0, of: $1) })
    }
}
