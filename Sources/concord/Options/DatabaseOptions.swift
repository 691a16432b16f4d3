import ArgumentParser
import Backend
import Database

/// The location of a server's data. The server and every command that works on its data have the same options.
struct DatabaseOptions: ParsableArguments {
    @OptionGroup var data: DataOption

    @Option(
        help: ArgumentHelp(
            "sqlite: a file for each API in the data folder. Or a PostgreSQL server (15 or newer), which several nodes "
                + "can share; each API has a schema of its own in it. Commands other than serve only need it when no "
                + "server runs. [CONCORD_DATABASE] (default: sqlite)",
            valueName: "sqlite|postgres://…"))
    var database: String?

    func validate() throws {
        if let database, DatabaseLocation(database) == nil {
            throw ValidationError("--database must be 'sqlite' or 'postgres://…', not '\(database)'")
        }
    }

    func folder(_ environment: Environment) throws -> String { try data.folder(environment) }

    /// Returns the location of the database as the operator has given it; nil when the option was left out.
    func given(_ environment: Environment) throws -> String? {
        let text = try text(environment, default: "")
        return text.isEmpty ? nil : text
    }

    func location(_ environment: Environment) throws -> DatabaseLocation {
        DatabaseLocation(try text(environment, default: "sqlite")) ?? .sqlite
    }

    /// Returns the bus of the nodes that share the database, for commands that work without a server.
    func bus(_ environment: Environment) throws -> AnnouncementBus {
        try environment.value(nil, "CONCORD_BUS", { Bus($0) }, default: .postgres).announcements
    }

    private func text(_ environment: Environment, default fallback: String) throws -> String {
        try environment.value(
            database, "CONCORD_DATABASE", { DatabaseLocation($0) == nil ? nil : $0 }, default: fallback)
    }

    /// Performs a command, through the server that uses the data folder, or in this process when no server runs.
    ///
    /// - Parameter input: Returns the next piece of the command's input; nil at its end.
    /// - Throws: `OperatorError` and other errors whose descriptions are for the operator.
    func perform(
        _ command: some OperatorCommand, on api: ConcordAPI, input: @escaping TerminalConsole.Input = { nil }
    ) async throws {
        let console = TerminalConsole(input: input)
        defer { console.bar.clear() }
        try await perform(command, on: api, console: console)
    }

    /// Performs a command whose output goes to a console.
    ///
    /// - Throws: `OperatorError` and other errors whose descriptions are for the operator.
    func perform(
        _ command: some OperatorCommand, on api: ConcordAPI, console: some OperatorConsole
    ) async throws {
        let environment = try data.environment()
        let folder = try folder(environment)
        let port = try environment.perAPI([], "CONCORD_PORT", names: ConcordAPI.names)[api.name]
        let publicURL = try environment.perAPI([], "CONCORD_PUBLIC_URL", names: ConcordAPI.names)[api.name]
        try await OperatorClient(
            folder: folder, database: try given(environment), bus: try bus(environment),
            environment: environment.variables
        ).perform(
            command, on: api.hosted, publicURL: publicURL ?? "http://localhost:\(port ?? "\(api.hosted.port)")",
            console: console)
    }

    /// Performs a command for the whole server, through the server that uses the data folder, or in this process when no
    /// server runs.
    ///
    /// - Throws: `OperatorError` and other errors whose descriptions are for the operator.
    func perform(_ command: some ServerCommand) async throws {
        let environment = try data.environment()
        try await OperatorClient(
            folder: try folder(environment), database: try given(environment), environment: environment.variables
        ).perform(
            command, try settings(environment), known: ConcordAPI.all.map(\.hosted),
            console: TerminalConsole(input: { nil }))
    }
}
