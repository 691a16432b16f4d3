import Foundation

/// Moves an API's database from one engine to the other.
///
/// The rows are copied into a draft beside the target's place: a file or a schema with another name. So no server can
/// start with a part of them, and a move that was interrupted goes on where it was. At the end the numbers and digests
/// of all rows are compared, and the draft gets its name. The source is kept under another name.
package struct DatabaseMove: Sendable {
    /// The place of a database.
    package enum Place: Sendable {
        /// A file.
        case sqlite(path: String)
        /// A database in which the API has a schema.
        case postgreSQL(url: String)
    }

    /// A step of a move, for the operator.
    package enum Step: Sendable {
        /// A table is copied.
        case copying(table: String, done: Int, total: Int)
        /// The rows of both sides are compared.
        case comparing(table: String)
    }

    /// The result of a move.
    package struct Report: Sendable {
        /// The number of rows of each table.
        package let rows: [String: Int]
        /// The name under which the source is kept.
        package let kept: String
    }

    private static let page = 500
    /// The table that each database has of its own.
    private static let own = "schema_migrations"

    private let schema: Schema
    private let source: Place
    private let target: Place

    package init(_ schema: Schema, from source: Place, to target: Place) {
        self.schema = schema
        self.source = source
        self.target = target
    }

    /// Moves the database, from the beginning or from where an earlier call was interrupted.
    ///
    /// - Throws: ``MoveRefused``, ``DatabaseCopy/PlaceNotEmpty``, the errors of the engines, `CancellationError`.
    package func run(showing show: @escaping @Sendable (Step) -> Void) async throws -> Report {
        try await LongWork.run { isCancelled in
            try requireEmptyTarget()
            try prepareSource()
            let from = try open(source, name: nil)
            try prepareDraft()
            let to = try open(target, name: draftName)
            let tables = try begin(from, to)
            for table in tables where table.name != Self.own {
                try copy(table, from, to, isCancelled) { show(.copying(table: table.name, done: $0, total: $1)) }
            }
            var rows: [String: Int] = [:]
            for table in tables where table.name != Self.own {
                show(.comparing(table: table.name))
                rows[table.name] = try compare(table, from, to, isCancelled)
            }
            try finish(tables, from, to)
            try from.close()
            try to.close()
            try publishDraft()
            return Report(rows: rows, kept: try putSourceAside())
        }
    }

    // MARK: Places

    private var draftName: String { schema.namespace + "_moving" }
    private func draft(_ path: String) -> String { path + "-moving" }

    private func open(_ place: Place, name: String?) throws -> SoleConnection {
        switch place {
        case .sqlite(let path): try SoleConnection(path: name == nil ? path : draft(path))
        case .postgreSQL(let url): try SoleConnection(url: url, namespace: name ?? schema.namespace)
        }
    }

    private func requireEmptyTarget() throws {
        switch target {
        case .sqlite(let path):
            guard !FileManager.default.fileExists(atPath: path) else {
                throw MoveRefused("There is a file \(path) already, and nothing is written into it: move it away first")
            }
        case .postgreSQL(let url): try DatabaseCopy.requireEmpty(url, namespace: schema.namespace)
        }
    }

    /// Brings the source up to date, so that both sides have the same tables.
    private func prepareSource() throws {
        switch source {
        case .sqlite(let path):
            guard FileManager.default.fileExists(atPath: path) else {
                throw MoveRefused("There is no database \(path)")
            }
            try Self.migrate(path, schema)
        case .postgreSQL(let url):
            let connection = try SoleConnection(url: url, namespace: schema.namespace)
            guard try connection.read({ try !$0.tableNames().isEmpty }) else {
                throw MoveRefused("The PostgreSQL database has no schema \(schema.namespace)")
            }
            try Self.migrate(url, schema, schema.namespace)
        }
    }

    /// Makes the draft's tables, unless an earlier call has.
    private func prepareDraft() throws {
        switch target {
        case .sqlite(let path): try Self.migrate(draft(path), schema)
        case .postgreSQL(let url): try Self.migrate(url, schema, draftName)
        }
    }

    private static func migrate(_ path: String, _ schema: Schema) throws {
        let queue = try SoleConnection(path: path)
        try schema.migrate(dialect: .sqlite) { body in try queue.write { try body($0) } }
        try queue.close()
    }

    private static func migrate(_ url: String, _ schema: Schema, _ namespace: String) throws {
        let connection = try PostgreSQLConnection(url: url, namespace: namespace, isPatient: true)
        try PostgreSQLEngine.migrate(connection, schema, namespace)
    }

    /// Gives the draft its name.
    private func publishDraft() throws {
        switch target {
        case .sqlite(let path):
            guard rename(draft(path), path) == 0 else {
                throw MoveRefused("\(path): \(String(cString: strerror(errno)))")
            }
        case .postgreSQL(let url):
            let connection = try PostgreSQLConnection(url: url, namespace: "public", isPatient: true)
            // An empty schema may have been made by hand.
            try connection.simple("DROP SCHEMA IF EXISTS \"\(schema.namespace)\"")
            try connection.simple("ALTER SCHEMA \"\(draftName)\" RENAME TO \"\(schema.namespace)\"")
        }
    }

    /// Gives the source another name, so that no server uses it by mistake.
    private func putSourceAside() throws -> String {
        let stamp = Date().formatted(
            Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted, timeZone: .gmt)
        ).lowercased().replacing("z", with: "")
        switch source {
        case .sqlite(let path):
            let name = "\(path)-moved-\(stamp)"
            guard rename(path, name) == 0 else { throw MoveRefused("\(name): \(String(cString: strerror(errno)))") }
            for end in ["-wal", "-shm", "-clean"] { unlink(path + end) }
            return name
        case .postgreSQL(let url):
            let name = "\(schema.namespace)_moved_\(stamp)"
            try PostgreSQLConnection(url: url, namespace: "public", isPatient: true).simple(
                "ALTER SCHEMA \"\(schema.namespace)\" RENAME TO \"\(name)\"")
            return "the schema \(name)"
        }
    }

    /// Throws the draft away.
    private func removeDraft() throws {
        switch target {
        case .sqlite(let path): for end in ["", "-wal", "-shm"] { unlink(draft(path) + end) }
        case .postgreSQL(let url):
            try PostgreSQLConnection(url: url, namespace: "public", isPatient: true).simple(
                "DROP SCHEMA IF EXISTS \"\(draftName)\" CASCADE")
        }
    }

    // MARK: Rows

    /// Makes sure that both sides have the same tables, and empties those of a new draft.
    private func begin(_ from: SoleConnection, _ to: SoleConnection) throws -> [TableShape] {
        let tables = try from.read { try $0.tableShapes() }
        let found = try to.read { try $0.tableShapes() }
        guard tables == found else {
            let different = (tables + found).filter { !found.contains($0) || !tables.contains($0) }.map(\.name)
            throw MoveRefused("The tables of the two sides differ: \(Set(different).sorted().joined(separator: ", "))")
        }
        try to.write { db in
            guard try !MoveProgress.hasBegun(in: db) else { return }
            try MoveProgress.begin(try db.dropForeignKeys(), in: db)
            // A new database has some rows, such as Deuce Diary's default locations.
            for table in tables where table.name != Self.own {
                try db.run(SQL(trusted: "DELETE FROM \(table.quotedName)"))
            }
        }
        return tables
    }

    private func copy(
        _ table: TableShape, _ from: SoleConnection, _ to: SoleConnection, _ isCancelled: () -> Bool,
        _ show: (_ done: Int, _ total: Int) -> Void
    ) throws {
        let pages = TablePages(table: table)
        var (position, isDone) = try to.read { try MoveProgress.position(of: table.name, in: $0) }
        guard !isDone else { return }
        let total =
            try from.read { try $0.value(SQL(trusted: "SELECT count(*) FROM \(table.quotedName)"), as: Int.self) }
            ?? 0
        var done =
            try to.read { try $0.value(SQL(trusted: "SELECT count(*) FROM \(table.quotedName)"), as: Int.self) }
            ?? 0
        while !isDone {
            if isCancelled() { throw CancellationError() }
            let rows = try from.read { try pages.page(after: position, limit: Self.page, in: $0) }
            isDone = rows.count < Self.page || table.key.isEmpty
            position = rows.last.map(pages.position(of:)) ?? position
            try to.write { db in
                try pages.insert(rows, in: db)
                try MoveProgress.set(table.name, to: position, isDone: isDone, in: db)
            }
            done += rows.count
            show(done, total)
        }
    }

    /// Compares the rows of both sides, and returns their number.
    private func compare(
        _ table: TableShape, _ from: SoleConnection, _ to: SoleConnection, _ isCancelled: () -> Bool
    ) throws -> Int {
        func digest(_ connection: SoleConnection) throws -> TableDigest {
            let pages = TablePages(table: table)
            var (digest, position): (TableDigest, [SQLValue]?) = (TableDigest(), nil)
            while true {
                if isCancelled() { throw CancellationError() }
                let rows = try connection.read { try pages.page(after: position, limit: Self.page, in: $0) }
                for row in rows { digest.add(row) }
                guard rows.count == Self.page, !table.key.isEmpty, let last = rows.last else { return digest }
                position = pages.position(of: last)
            }
        }
        let (before, after) = (try digest(from), try digest(to))
        guard before == after else {
            try to.close()
            try removeDraft()
            throw MoveRefused(
                """
                The table \(table.name) is not the same on both sides (\(before.count) and \(after.count) rows): the source \
                has changed since the move began. The copy was thrown away, and nothing has changed: move again while no \
                server runs
                """)
        }
        return before.count
    }

    /// Makes the constraints again, and lets the engine give no id twice.
    private func finish(_ tables: [TableShape], _ from: SoleConnection, _ to: SoleConnection) throws {
        let ids = try from.read { db in try tables.map { try db.highestID(of: $0) } }
        try to.write { db in
            for statement in try MoveProgress.constraints(in: db) { try db.run(SQL(trusted: statement)) }
            for (table, id) in zip(tables, ids) { try db.setHighestID(of: table, to: id) }
            try db.requireForeignKeys()
            try MoveProgress.end(in: db)
        }
        try to.administer("ANALYZE")
    }
}

extension Session {
    /// Drops PostgreSQL's foreign keys, because tables are filled in any order.
    ///
    /// - Returns: The statements that make them again. On SQLite there are none, as this connection does not check them.
    fileprivate func dropForeignKeys() throws -> [String] {
        guard dialect == .postgreSQL else { return [] }
        let found = try all(
            """
            SELECT CAST(c.relname AS TEXT), CAST(f.conname AS TEXT), pg_get_constraintdef(f.oid)
            FROM pg_constraint f JOIN pg_class c ON c.oid = f.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE f.contype = 'f' AND n.nspname = current_schema() ORDER BY 1, 2
            """
        ) { row in
            (
                table: try row.get(0, as: String.self), name: try row.get(1, as: String.self),
                definition: try row.get(2, as: String.self)
            )
        }
        return try found.map { key in
            try run(SQL(trusted: "ALTER TABLE \"\(key.table)\" DROP CONSTRAINT \"\(key.name)\""))
            return "ALTER TABLE \"\(key.table)\" ADD CONSTRAINT \"\(key.name)\" \(key.definition)"
        }
    }

    /// Throws when a row of SQLite refers to one that does not exist. PostgreSQL looks when the constraints are made.
    fileprivate func requireForeignKeys() throws {
        guard dialect == .sqlite else { return }
        let broken = try all("SELECT DISTINCT \"table\" FROM pragma_foreign_key_check") {
            try $0.get(0, as: String.self)
        }
        guard broken.isEmpty else {
            throw MoveRefused("Rows refer to others that do not exist: \(broken.joined(separator: ", "))")
        }
    }
}

extension DatabaseMove {
    /// Throws when another process of Concord uses a PostgreSQL database.
    package static func requireUnused(_ url: String) async throws {
        try await LongWork.run { _ in
            // A connection that has just been closed is listed for a moment.
            for attempt in 0... {
                let connection = try SoleConnection(url: url, namespace: "public")
                let count = try connection.read { db in
                    try db.value(
                        """
                        SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'concord%'
                        AND datname = current_database() AND pid <> pg_backend_pid()
                        """, as: Int.self)
                }
                if count == 0 { return }
                guard attempt < 50 else {
                    throw MoveRefused("A server uses the PostgreSQL database: stop every node first")
                }
                usleep(100_000)
            }
        }
    }
}
