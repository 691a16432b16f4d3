import Foundation

/// A copy of a database in a backup: an SQLite file, or an archive of `pg_dump`.
package struct DatabaseCopy: Sendable {
    /// The kind of a copy.
    package enum Engine: String, Codable, Sendable {
        case sqlite
        case postgreSQL = "postgresql"
    }

    private let path: String
    private let engine: Engine

    package init(path: String, engine: Engine) {
        self.path = path
        self.engine = engine
    }

    /// Makes sure that the whole copy can be read, and that it has these tables with as many rows.
    ///
    /// Rows are counted in SQLite files only.
    /// - Throws: ``DatabaseDamage``, ``PostgreSQLToolError``, `CancellationError`.
    package func verify(rows: [String: Int], using tools: PostgreSQLTools = .init()) async throws {
        try await LongWork.run { [path, engine] isCancelled in
            switch engine {
            case .sqlite:
                let found = try SQLiteFile.reading(path, check: .full) { try $0.rowCounts() }
                guard found == rows else {
                    throw DatabaseDamage(path: path, reason: "it has other tables or rows than the backup says")
                }
            case .postgreSQL:
                let tables = try tools.stopped(by: isCancelled).tables(in: path)
                guard Set(tables) == Set(rows.keys) else {
                    throw DatabaseDamage(path: path, reason: "it has other tables than the backup says")
                }
            }
        }
    }

    /// Makes the archive's schema in a PostgreSQL database, all of it or nothing.
    ///
    /// - Parameters:
    ///   - rows: The rows that each table then has, which are counted.
    ///   - schema: The API's schema, by whose name PostgreSQL's is called.
    package func restore(
        to url: String, _ schema: Schema, rows: [String: Int], using tools: PostgreSQLTools = .init()
    ) async throws {
        try await LongWork.run { [path] isCancelled in
            let namespace = schema.namespace
            try Self.requireEmpty(url, namespace: namespace)
            let connection = try PostgreSQLConnection(url: url, namespace: namespace, isPatient: true)
            // The archive has a statement that makes the schema.
            try connection.simple("DROP SCHEMA IF EXISTS \"\(namespace)\"")
            try tools.stopped(by: isCancelled).restore(path, of: namespace, to: url)
            let found = try PostgreSQLEngine.transaction(on: connection, "BEGIN READ ONLY") { session in
                let counts = try session.rowCounts()
                connection.endReading()
                return counts
            }
            guard found == rows else {
                throw DatabaseDamage(path: path, reason: "it has other tables or rows than the backup says")
            }
        }
    }

    /// Throws ``PlaceNotEmpty`` when a PostgreSQL database has tables of an API already.
    package static func requireEmpty(_ url: String, _ schema: Schema) async throws {
        try await LongWork.run { _ in try requireEmpty(url, namespace: schema.namespace) }
    }

    static func requireEmpty(_ url: String, namespace: String) throws {
        let connection = try PostgreSQLConnection(url: url, namespace: namespace, isPatient: true)
        let tables = try PostgreSQLEngine.transaction(on: connection, "BEGIN READ ONLY") { session in
            let tables = try session.tableNames()
            connection.endReading()
            return tables
        }
        guard tables.isEmpty else { throw PlaceNotEmpty(namespace: namespace) }
    }

    /// Removes a schema that ``restore(to:_:rows:using:)`` has made.
    package static func remove(_ schema: Schema, from url: String) async throws {
        try await LongWork.run { _ in
            let connection = try PostgreSQLConnection(url: url, namespace: schema.namespace, isPatient: true)
            try connection.simple("DROP SCHEMA IF EXISTS \"\(schema.namespace)\" CASCADE")
        }
    }

    /// The error for a PostgreSQL database that has an API's tables already.
    package struct PlaceNotEmpty: Error, CustomStringConvertible {
        let namespace: String

        package var description: String {
            """
            The PostgreSQL database has a schema \(namespace) with tables already, and nothing is written into it. Give \
            another database, or move the schema away: ALTER SCHEMA \(namespace) RENAME TO \(namespace)_before
            """
        }
    }
}

extension Database {
    /// Returns whether a PostgreSQL database has tables of an API.
    package static func exists(url: String, _ schema: Schema) async throws -> Bool {
        do {
            try await DatabaseCopy.requireEmpty(url, schema)
            return false
        } catch is DatabaseCopy.PlaceNotEmpty {
            return true
        }
    }
}

extension Schema {
    /// The name of PostgreSQL's schema for the tables.
    var namespace: String { name.replacing("-", with: "_") }
}

extension Session {
    /// Returns the names of all tables, in order.
    func tableNames() throws -> [String] {
        let query: SQL =
            switch dialect {
            case .sqlite:
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
            case .postgreSQL:
                """
                SELECT CAST(c.relname AS TEXT) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p')
                """
            }
        return try all(query) { try $0.get(0, as: String.self) }.sorted()
    }

    /// Returns the number of rows of each table.
    package func rowCounts() throws -> [String: Int] {
        var counts: [String: Int] = [:]
        for table in try tableNames() {
            counts[table] = try value(SQL(trusted: "SELECT count(*) FROM \"\(table)\""), as: Int.self)
        }
        return counts
    }

    /// The number of PostgreSQL's version, such as 15; nil on SQLite.
    var serverVersion: Int? {
        get throws {
            guard dialect == .postgreSQL else { return nil }
            return try value("SELECT current_setting('server_version_num')", as: String.self).flatMap(Int.init).map {
                $0 / 10_000
            }
        }
    }
}
