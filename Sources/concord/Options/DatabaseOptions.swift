import ArgumentParser
import Backend

/// Where a server's data is: the same options for the server and for every command that works on its data.
struct DatabaseOptions: ParsableArguments {
    @Option(help: "The data folder: databases, uploaded files, generated keys. [CONCORD_DATA] (default: ./data)")
    var data: String?

    @Option(
        help: ArgumentHelp(
            "sqlite: a file for each API in the data folder. Or a PostgreSQL (15 or newer), which several nodes can "
                + "share; each API has a schema of its own in it. Other commands than serve need it only where no server "
                + "runs. [CONCORD_DATABASE] (default: sqlite)",
            valueName: "sqlite|postgres://…"))
    var database: String?

    func validate() throws {
        if let database, DatabaseLocation(database) == nil {
            throw ValidationError("--database is 'sqlite' or 'postgres://…', not '\(database)'")
        }
    }

    func folder(_ environment: Environment) throws -> String {
        try environment.value(data, "CONCORD_DATA", { $0 }, default: "./data")
    }

    /// Returns where the operator says that the database is; nil when nothing is said.
    func said(_ environment: Environment) throws -> String? {
        let text = try environment.value(
            database, "CONCORD_DATABASE", { DatabaseLocation($0) == nil ? nil : $0 }, default: "")
        return text.isEmpty ? nil : text
    }

    func location(_ environment: Environment) throws -> DatabaseLocation {
        try said(environment).flatMap { DatabaseLocation($0) } ?? .sqlite
    }

    /// Does a command: by the server that uses the data folder, or in this process where no server runs.
    ///
    /// - Parameter input: Returns the next piece of the command's input; nil at its end.
    /// - Throws: `OperatorError` and other errors whose descriptions are words for the operator.
    func perform(
        _ command: some OperatorCommand, on api: ConcordAPI, input: @escaping TerminalConsole.Input = { nil }
    ) async throws {
        let environment = Environment.process
        let folder = try folder(environment)
        let port = try environment.perAPI([], "CONCORD_PORT", names: ConcordAPI.names)[api.name]
        let publicURL = try environment.perAPI([], "CONCORD_PUBLIC_URL", names: ConcordAPI.names)[api.name]
        let console = TerminalConsole(input: input)
        defer { console.bar.clear() }
        try await OperatorClient(folder: folder, database: try said(environment)).perform(
            command, on: api.hosted, publicURL: publicURL ?? "http://localhost:\(port ?? "\(api.hosted.port)")",
            console: console)
    }
}
