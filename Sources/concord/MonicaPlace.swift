import ArgumentParser
import Backend
import Database
import Foundation
import MonicaAPI
import MonicaService

/// Where Monica's data is, for commands that work on it beside a server.
struct MonicaPlace: ParsableArguments {
    @Option(help: "The server's data folder. [CONCORD_DATA] (default: ./data)")
    var data: String?

    @Option(
        help: ArgumentHelp(
            "As the server has it. [CONCORD_DATABASE] (default: sqlite)", valueName: "sqlite|postgres://…"))
    var database: String?

    /// Opens the database, and lets go of it at the end.
    func open<Value>(_ body: (MonicaService) async throws -> Value) async throws -> Value {
        let environment = Environment.process
        PrivateFiles.keepPrivate()
        let folder = try environment.value(data, "CONCORD_DATA", { $0 }, default: "./data")
        let place = try environment.value(database, "CONCORD_DATABASE", Serve.place, default: "sqlite")
        let database: Database
        if place == "sqlite" {
            // Not the lock of the server: SQLite lets several processes write one after the other.
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            database = try .sqlite(path: "\(folder)/\(Monica.name).sqlite", schema: MonicaService.schema, readers: 1)
        } else {
            database = try .postgreSQL(url: place, schema: MonicaService.schema, connections: 1)
        }
        let service = MonicaService(
            database: database, secret: [], settings: .init(publicURL: "http://localhost:8082"))
        let result: Result<Value, any Error>
        do { result = .success(try await body(service)) } catch { result = .failure(error) }
        try await database.close()
        return try result.get()
    }
}
