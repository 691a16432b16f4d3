import Database
import Foundation

/// A data folder, and where the databases that belong to it are.
struct ServerFiles: Sendable {
    let folder: String
    let database: DatabaseLocation

    /// Makes sure that the database that a command works on is there.
    ///
    /// - Throws: ``OperatorError`` when there is none and the command makes none.
    func requireDatabase(for command: any OperatorCommand.Type, of api: any HostedAPI) throws {
        let file = DatabaseLocation.file(of: api.name, in: folder)
        guard command.makesDatabase || FileManager.default.fileExists(atPath: file) else {
            throw OperatorError("\(folder) has no \(api.title) database: is it the server's data folder (--data)?")
        }
    }

    /// Opens the database that a command works on, and closes it at the end. The caller owns the folder.
    func open(
        for command: any OperatorCommand.Type, of api: any HostedAPI, _ body: (Database) async throws -> Void
    ) async throws {
        let opened: Database
        switch database {
        case .sqlite:
            try requireDatabase(for: command, of: api)
            let file = DatabaseLocation.file(of: api.name, in: folder)
            opened = try .sqlite(path: file, schema: api.schema, readers: 2)
        case .postgreSQL(let url):
            opened = try .postgreSQL(url: url, schema: api.schema, connections: 2)
        }
        let result: Result<Void, any Error>
        do { result = .success(try await body(opened)) } catch { result = .failure(error) }
        try await opened.close()
        try result.get()
    }
}
