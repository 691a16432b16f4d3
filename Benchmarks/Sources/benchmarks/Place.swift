import ArgumentParser
import Foundation
import GRDB

enum Engine: String, CaseIterable, ExpressibleByArgument {
    case sqlite
    case postgreSQL = "postgresql"
}

/// The location of a measured server's data: an empty folder, and optionally an empty PostgreSQL database.
struct Place {
    let folder: String
    let database: BenchmarkDatabase?

    /// The arguments for commands of concord.
    var arguments: [String] { ["--data", folder] + (database.map { ["--database", $0.url] } ?? []) }

    /// Returns the beginning of a row's name.
    func name(_ benchmark: String) -> String { benchmark + (database == nil ? ", " : ", PostgreSQL, ") }

    func serve(_ concord: String, _ api: String) throws -> ServerProcess {
        try ServerProcess(concord, ["serve", api, "--port", "\(api)=0", "--log-level", "error"] + arguments)
    }

    /// Runs statements that both engines understand, in the fastest way: without checks of foreign keys, and without
    /// durability. Then it brings the engine into the state that its housekeeping would.
    func fill(_ api: String, _ statements: [String]) throws {
        guard let database else {
            return try onFile(api) { db in
                for statement in statements { try db.execute(sql: statement) }
            }
        }
        try BenchmarkDatabase.psql(
            database.url,
            ["SET search_path = \(api)", "SET session_replication_role = replica"] + statements + ["VACUUM ANALYZE"])
    }

    /// Returns the first column of a query's result.
    func numbers(_ api: String, _ query: String) throws -> [Int] {
        if let database {
            let text = try BenchmarkDatabase.psql(database.url, ["SET search_path = \(api)", query])
            return text.split(separator: "\n").compactMap { Int($0) }
        }
        return try onFile(api) { try Int.fetchAll($0, sql: query) }
    }

    private func onFile<T>(_ api: String, _ body: (GRDB.Database) throws -> T) throws -> T {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let queue = try DatabaseQueue(path: "\(folder)/\(api).sqlite", configuration: configuration)
        let result = try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -200000")
            return try body(db)
        }
        try queue.close()
        return result
    }
}

extension Setting {
    /// Measures on SQLite, then on PostgreSQL if there is one.
    func onEachEngine(_ measure: (Place) async throws -> [Row]) async throws -> [Row] {
        var rows: [Row] = []
        if engines.contains(.sqlite) {
            rows += try await Leftovers.withFolder { try await measure(Place(folder: $0, database: nil)) }
        }
        if engines.contains(.postgreSQL), let postgreSQL {
            rows += try await BenchmarkDatabase.with(at: postgreSQL) { database in
                try await Leftovers.withFolder { try await measure(Place(folder: $0, database: database)) }
            }
        }
        return rows
    }
}
