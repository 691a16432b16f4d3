import ArgumentParser
import Database
import Foundation

/// Where a server's data is, for what only an operator may do.
struct AdminPlace: ParsableArguments {
    @Option(help: "The server's data folder. [CONCORD_DATA] (default: ./data)")
    var data: String?

    @Option(
        help: ArgumentHelp(
            "Where the server's database is. [CONCORD_DATABASE] (default: sqlite)", valueName: "sqlite|postgres://…"))
    var database: String?

    func validate() throws {
        if let database, Serve.place(database) == nil {
            throw ValidationError("--database is 'sqlite' or 'postgres://…', not '\(database)'")
        }
    }

    /// Opens an API's database, which must be there, and lets go of it at the end.
    ///
    /// - Parameters:
    ///   - api: As it is called on the command line.
    ///   - title: The same for people.
    ///   - besideServer: Whether an SQLite may have its server running: its processes write one after the other.
    func open<Value>(
        _ api: String, _ title: String, _ schema: Schema, besideServer: Bool,
        _ body: (Database) async throws -> Value
    ) async throws -> Value {
        let environment = Environment.process
        PrivateFiles.keepPrivate()
        let folder = try environment.value(data, "CONCORD_DATA", { $0 }, default: "./data")
        let place = try environment.value(database, "CONCORD_DATABASE", Serve.place, default: "sqlite")
        guard place == "sqlite" else {
            return try await Self.use(.postgreSQL(url: place, schema: schema, connections: 1), body)
        }
        let file = "\(folder)/\(api).sqlite"
        guard FileManager.default.fileExists(atPath: file) else {
            throw ValidationError("\(folder) has no \(title) database: is it the server's data folder (--data)?")
        }
        let owned = besideServer ? nil : try DataFolder(folder)
        let value = try await Self.use(.sqlite(path: file, schema: schema, readers: 1), body)
        withExtendedLifetime(owned) {}
        return value
    }

    private static func use<Value>(
        _ database: Database, _ body: (Database) async throws -> Value
    ) async throws -> Value {
        let result: Result<Value, any Error>
        do { result = .success(try await body(database)) } catch { result = .failure(error) }
        try await database.close()
        return try result.get()
    }
}
