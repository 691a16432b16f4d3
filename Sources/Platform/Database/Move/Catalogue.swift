/// A table as the engine's own catalogue describes it.
struct TableShape: Equatable {
    /// The kinds of values that both engines store.
    enum Kind: String {
        case integer, real, text, bytes
    }

    struct Column: Equatable {
        let name: String
        let kind: Kind
    }

    let name: String
    /// The columns, in the order of their names.
    let columns: [Column]
    /// The columns of the primary key, in its order.
    let key: [String]
    /// The column whose ids the engine gives, and never twice.
    let identity: String?

    var quotedName: String { "\"\(name)\"" }
    func kind(of column: String) -> Kind? { columns.first { $0.name == column }?.kind }
}

extension Session {
    /// Returns the shapes of all tables but those that a move makes for itself.
    func tableShapes() throws -> [TableShape] {
        try tableNames().filter { !$0.hasPrefix(MoveProgress.prefix) }.map { try shape(of: $0) }
    }

    private func shape(of table: String) throws -> TableShape {
        let query: SQL =
            switch dialect {
            case .sqlite:
                """
                SELECT c.name, c.type, c.pk, c.pk = 1 AND m.sql LIKE '%AUTOINCREMENT%'
                FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name = \(table)
                """
            case .postgreSQL:
                """
                SELECT CAST(a.attname AS TEXT), format_type(a.atttypid, a.atttypmod),
                    COALESCE(array_position(CAST(i.indkey AS SMALLINT[]), a.attnum) + 1, 0),
                    CASE WHEN a.attidentity = '' THEN 0 ELSE 1 END
                FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
                JOIN pg_namespace n ON n.oid = c.relnamespace
                LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
                WHERE n.nspname = current_schema() AND c.relname = \(table) AND a.attnum > 0 AND NOT a.attisdropped
                """
            }
        let columns = try all(query) { row in
            (
                name: try row.get(0, as: String.self), type: try row.get(1, as: String.self),
                place: try row.get(2, as: Int.self), isIdentity: try row.get(3, as: Int.self) != 0
            )
        }
        return TableShape(
            name: table,
            columns: try columns.map { column in
                guard let kind = TableShape.Kind(type: column.type) else {
                    throw MoveRefused(
                        "The column \(column.name) of \(table) has the type \(column.type), which cannot be moved")
                }
                return TableShape.Column(name: column.name, kind: kind)
            }.sorted { $0.name < $1.name },
            key: columns.filter { $0.place > 0 }.sorted { $0.place < $1.place }.map(\.name),
            identity: columns.first { $0.isIdentity }?.name)
    }

    // MARK: Ids

    /// Returns the highest id that the engine has given in a table, also of a row that is gone.
    func highestID(of table: TableShape) throws -> Int64 {
        guard let column = table.identity else { return 0 }
        let given: Int64? =
            switch dialect {
            case .sqlite: try value("SELECT seq FROM sqlite_sequence WHERE name = \(table.name)")
            case .postgreSQL:
                try value(
                    """
                    SELECT COALESCE(last_value, 0) FROM pg_sequences
                    WHERE format('%I.%I', schemaname, sequencename) = pg_get_serial_sequence(\(table.quotedName), \(column))
                    """)
            }
        let stored: Int64? = try value(
            SQL(trusted: "SELECT COALESCE(MAX(\"\(column)\"), 0) FROM \(table.quotedName)"))
        return max(given ?? 0, stored ?? 0)
    }

    /// Lets the engine give only higher ids in a table from now on.
    func setHighestID(of table: TableShape, to id: Int64) throws {
        guard let column = table.identity, id > 0 else { return }
        switch dialect {
        case .sqlite:
            try run("DELETE FROM sqlite_sequence WHERE name = \(table.name)")
            try run("INSERT INTO sqlite_sequence (name, seq) VALUES (\(table.name), \(id))")
        case .postgreSQL:
            _ = try value(
                "SELECT setval(CAST(pg_get_serial_sequence(\(table.quotedName), \(column)) AS regclass), \(id))",
                as: Int64.self)
        }
    }
}

extension TableShape.Kind {
    /// Returns the kind of a declared type; nil for one that this program's schemas do not use.
    init?(type: String) {
        switch type.lowercased() {
        case "integer", "bigint", "smallint": self = .integer
        case "double precision": self = .real
        case "text": self = .text
        case "blob", "bytea": self = .bytes
        default: return nil
        }
    }
}
