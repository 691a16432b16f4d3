import Database
import Foundation

/// A data folder and the location of the databases that belong to it.
struct ServerFiles: Sendable {
    let folder: String
    let database: DatabaseLocation
    let bus: AnnouncementBus

    /// Makes sure that the database of a command exists.
    ///
    /// - Throws: ``OperatorError`` when there is none and the command does not create one.
    func requireDatabase(for command: any OperatorCommand.Type, of api: any HostedAPI) throws {
        let file = DatabaseLocation.file(of: api.name, in: folder)
        guard command.makesDatabase || FileManager.default.fileExists(atPath: file) else {
            throw OperatorError("\(folder) has no \(api.title) database: is it the server's data folder (--data)?")
        }
    }

    /// Opens the database of an API that no server serves. The caller must own the folder.
    func openDatabase(of api: any HostedAPI) throws -> Database {
        switch database {
        case .sqlite:
            try .sqlite(path: DatabaseLocation.file(of: api.name, in: folder), schema: api.schema, readers: 2)
        case .postgreSQL(let url): try .postgreSQL(url: url, bus: bus, schema: api.schema, connections: 2)
        }
    }

    /// Opens the database of a command, and closes it at the end. The caller must own the folder.
    func open(
        for command: any OperatorCommand.Type, of api: any HostedAPI, _ body: (Database) async throws -> Void
    ) async throws {
        if database == .sqlite { try requireDatabase(for: command, of: api) }
        let opened = try openDatabase(of: api)
        let result: Result<Void, any Error>
        do { result = .success(try await body(opened)) } catch { result = .failure(error) }
        try await opened.close()
        try result.get()
    }
}
