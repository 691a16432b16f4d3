import Foundation

/// The tables of one API, as the steps that led to them.
public struct Schema: Sendable {
    /// One step forward. Steps are never changed once released, and never undone.
    public struct Migration: Sendable {
        public let name: String
        /// Statements, with the words that differ between engines in capitals between braces:
        /// `{ID}` an id that only ever grows, `{BYTES}` a byte string.
        public let statements: [String]

        public init(_ name: String, _ statements: [String]) {
            self.name = name
            self.statements = statements
        }
    }

    public let name: String
    public let migrations: [Migration]

    public init(_ name: String, _ migrations: [Migration]) {
        self.name = name
        self.migrations = migrations
    }

    /// Brings a database up to date, each step in a transaction of its own.
    ///
    /// - Throws: ``SchemaMismatch`` when the database is newer than this program, or took another path.
    func migrate(dialect: Dialect, _ transaction: ((Session) throws -> Void) throws -> Void) throws {
        try transaction { session in
            try session.run(
                """
                CREATE TABLE IF NOT EXISTS schema_migrations (
                    version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP)
                """)
        }
        for (index, migration) in migrations.enumerated() {
            try transaction { session in
                let applied = try session.all("SELECT name FROM schema_migrations ORDER BY version") {
                    try $0.get(0, as: String.self)
                }
                try check(applied)
                guard applied.count == index else { return }
                for statement in migration.statements { try session.run(SQL(stringLiteral: dialect.spell(statement))) }
                try session.run(
                    "INSERT INTO schema_migrations (version, name) VALUES (\(index + 1), \(migration.name))")
            }
        }
    }

    private func check(_ applied: [String]) throws {
        let known = migrations.map(\.name)
        if applied.count > known.count, applied.starts(with: known) {
            throw SchemaMismatch(
                """
                The \(name) database is at schema \(applied.count) (\(applied[applied.count - 1])); this program \
                knows up to \(known.count). It was used by a newer version of Concord: start that version, or restore \
                a backup made before the upgrade.
                """)
        }
        guard known.starts(with: applied) else {
            throw SchemaMismatch(
                "The \(name) database does not have the schema that this program knows: it is another program's.")
        }
    }
}

/// A database that this program must not touch.
public struct SchemaMismatch: Error, CustomStringConvertible {
    public let description: String
    init(_ description: String) { self.description = description }
}

/// What two engines spell differently.
enum Dialect {
    case sqlite

    func spell(_ statement: String) -> String {
        switch self {
        case .sqlite:
            statement
                .replacingOccurrences(of: "{ID}", with: "INTEGER PRIMARY KEY AUTOINCREMENT")
                .replacingOccurrences(of: "{BYTES}", with: "BLOB")
        }
    }
}
