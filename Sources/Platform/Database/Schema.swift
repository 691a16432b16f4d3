import Crypto
import Foundation

/// The tables of one API, as a list of migrations.
public struct Schema: Sendable {
    /// A migration. It is never changed and never undone; a later change is a migration of its own. The database stores
    /// a digest of each migration that was applied.
    public struct Migration: Sendable {
        public let name: String
        /// The statements. Words in capitals between braces stand for differences between engines. `{ID}` is an id that
        /// only grows, and `{BYTES}` is a byte string. `{KEY}` is text that is ordered by code point whatever the
        /// server's locale is; every indexed text uses it, so that an index survives a change of the locale.
        /// `{BYTEWISE}` stands behind a text in an indexed expression, for the same reason (``Session/bytewise``).
        public let statements: [String]
        /// Does work that statements cannot do, such as filling a column with values that only the program can compute.
        /// It runs in the same transaction, after the statements.
        public let fill: (@Sendable (Session) throws -> Void)?

        public init(_ name: String, _ statements: [String], fill: (@Sendable (Session) throws -> Void)? = nil) {
            self.name = name
            self.statements = statements
            self.fill = fill
        }

        /// Returns the SHA-256 of the migration's name and statements, in hexadecimal. White space counts as one space,
        /// so that the layout of a statement may change.
        public var digest: String {
            let texts = ([name] + statements).map(Self.inOneLine)
            let digest = SHA256.hash(data: Array(texts.joined(separator: "\0").utf8))
            return digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }

        /// Writes white space as one space. Texts in ASCII, which nearly all are, need none of Unicode's tables: each start
        /// reads all migrations.
        private static func inOneLine(_ text: String) -> String {
            guard text.utf8.allSatisfy({ $0 < 0x80 }) else {
                return text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            }
            var line: [UInt8] = []
            var isBetweenWords = false
            for byte in text.utf8 {
                if byte == UInt8(ascii: " ") || 0x09...0x0D ~= byte {
                    isBetweenWords = true
                } else {
                    if isBetweenWords, !line.isEmpty { line.append(UInt8(ascii: " ")) }
                    isBetweenWords = false
                    line.append(byte)
                }
            }
            return String(decoding: line, as: UTF8.self)
        }
    }

    public let name: String
    public let migrations: [Migration]

    public init(_ name: String, _ migrations: [Migration]) {
        self.name = name
        self.migrations = migrations
    }

    /// Writes a value that takes space, and removes it.
    static func probe(in session: Session) throws {
        let text = String(repeating: " ", count: 16_384)
        try session.run("INSERT INTO schema_migrations (version, name) VALUES (-1, \(text))")
        try session.run("DELETE FROM schema_migrations WHERE version = -1")
    }

    /// Brings a database up to date, with a transaction for each migration.
    ///
    /// - Throws: ``SchemaMismatch`` when the database is newer than this program, has other migrations, or took one in
    ///   another form.
    func migrate(dialect: Dialect, _ transaction: ((Session) throws -> Void) throws -> Void) throws {
        var done = 0
        try transaction { session in
            try session.run(
                """
                CREATE TABLE IF NOT EXISTS schema_migrations (
                    version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
                    digest TEXT)
                """)
            if try !hasDigests(session) { try session.run("ALTER TABLE schema_migrations ADD COLUMN digest TEXT") }
            let applied = try self.applied(in: session)
            try check(applied)
            done = applied.count
            for (step, migration) in zip(applied, migrations) where step.digest == nil {
                try session.run(
                    "UPDATE schema_migrations SET digest = \(migration.digest) WHERE version = \(step.version)")
            }
            for statement in [Session.installationTable] + Session.auditTable {
                try session.run(SQL(trusted: dialect.spell(statement)))
            }
        }
        for (index, migration) in migrations.enumerated().dropFirst(done) {
            try transaction { session in
                // Another node may have applied it meanwhile.
                let applied = try self.applied(in: session)
                try check(applied)
                guard applied.count == index else { return }
                for statement in migration.statements { try session.run(SQL(trusted: dialect.spell(statement))) }
                try migration.fill?(session)
                try session.run(
                    """
                    INSERT INTO schema_migrations (version, name, digest)
                    VALUES (\(index + 1), \(migration.name), \(migration.digest))
                    """)
            }
        }
    }

    /// A migration that a database has taken. The digest is nil if it was taken before there were digests.
    private typealias Step = (version: Int, name: String, digest: String?)

    /// Returns the migrations that a database has taken, in their order.
    private func applied(in session: Session) throws -> [Step] {
        let digest: SQL = try hasDigests(session) ? "digest" : "NULL"
        return try session.all("SELECT version, name, \(digest) FROM schema_migrations ORDER BY version") { row in
            (version: try row.get(0), name: try row.get(1), digest: try row.get(2))
        }
    }

    private func hasDigests(_ session: Session) throws -> Bool {
        switch session.dialect {
        case .sqlite:
            try session.exists("SELECT 1 FROM pragma_table_info('schema_migrations') WHERE name = 'digest'")
        case .postgreSQL:
            try session.exists(
                """
                SELECT 1 FROM information_schema.columns WHERE table_schema = current_schema()
                AND table_name = 'schema_migrations' AND column_name = 'digest'
                """)
        }
    }

    /// Throws ``SchemaMismatch`` for a database that is newer than this program, has other migrations, or took one in another
    /// form. It changes nothing.
    ///
    /// - Returns: Whether the database has taken all steps.
    func look(at session: Session) throws -> Bool {
        let table: SQL =
            switch session.dialect {
            case .sqlite: "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'schema_migrations'"
            case .postgreSQL:
                """
                SELECT 1 FROM information_schema.tables
                WHERE table_schema = current_schema() AND table_name = 'schema_migrations'
                """
            }
        guard try session.exists(table) else { return false }
        let applied = try self.applied(in: session)
        try check(applied)
        return applied.count == migrations.count
    }

    /// Throws ``SchemaMismatch`` unless the steps are the first of this program's migrations, in the same form.
    private func check(_ steps: [Step]) throws {
        let known = migrations.map(\.name)
        let applied = steps.map(\.name)
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
        for (step, migration) in zip(steps, migrations) where step.digest.map({ $0 != migration.digest }) ?? false {
            throw SchemaMismatch(
                """
                The \(name) database took schema step \(step.version) (\(step.name)) in another form than this program \
                has it: it was made by a version of Concord that was never released, or by a changed one. Start the \
                version that made it, export its data and import them here; or restore another backup.
                """)
        }
    }
}

/// The error for a database of another program, or of a newer version of this one.
public struct SchemaMismatch: Error, CustomStringConvertible {
    public let description: String
    init(_ description: String) { self.description = description }
}

/// The differences between the two engines.
enum Dialect {
    case sqlite
    case postgreSQL

    /// The end of a SELECT that locks the rows it finds. Other transactions may still refer to them by foreign keys.
    var rowLock: SQL {
        switch self {
        case .sqlite: ""
        case .postgreSQL: " FOR NO KEY UPDATE"
        }
    }

    /// Returns a statement with this engine's words instead of those in braces.
    func spell(_ statement: String) -> String {
        let words =
            switch self {
            case .sqlite:
                [
                    "{ID}": "INTEGER PRIMARY KEY AUTOINCREMENT", "{BYTES}": "BLOB", "{KEY}": "TEXT", "{BYTEWISE}": "",
                ]
            case .postgreSQL:
                [
                    "{ID}": "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY", "{BYTES}": "BYTEA",
                    "{KEY}": "TEXT COLLATE \"C\"", "{BYTEWISE}": "COLLATE \"C\"",
                ]
            }
        var spelled = ""
        var rest = statement[...]
        while let start = rest.utf8.firstIndex(of: UInt8(ascii: "{")) {
            spelled += rest[..<start]
            rest = rest[start...]
            let end = rest.utf8.firstIndex(of: UInt8(ascii: "}")) ?? start
            if let word = words[String(rest[...end])] {
                spelled += word
                rest = rest[rest.utf8.index(after: end)...]
            } else {
                // Such as JSON in a trigger.
                spelled += "{"
                rest = rest.dropFirst()
            }
        }
        return spelled + rest
    }
}
