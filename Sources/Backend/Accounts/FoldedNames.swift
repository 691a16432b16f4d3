import Contract
import Database

/// Stores folded names, by which those that look alike are found (``Swift/String/foldedForComparison``): usernames, and the
/// names of places. They are in a column besides the key for signing in, and no two rows have the same.
///
/// A row from before this rule whose name looks like an older one has a folded name with a mark behind it.
public enum FoldedNames {
    /// The mark, a control character that no name contains.
    private static let mark = "\u{1}"

    /// Returns the migration of a table of accounts, which adds the column `folded_name` and fills it from `username`.
    ///
    /// - Parameters:
    ///   - statements: Other statements of the same migration.
    ///   - table: The table, with `username` and a growing `id`.
    ///   - condition: The condition for rows that have a name.
    public static func migration(
        adding statements: [String] = [], to table: String, where condition: SQL = "1 = 1"
    ) -> Schema.Migration {
        migration(
            "names that look alike, and answers that go with an account", adding: statements, of: "username", in: table,
            where: condition)
    }

    /// Returns the migration that adds the column `folded_name`, and fills it from another one.
    ///
    /// - Parameters:
    ///   - name: The name of the migration.
    ///   - statements: Other statements of the same migration.
    ///   - column: The column with the names.
    ///   - table: The table, with a growing `id`.
    ///   - condition: The condition for rows that have a name.
    public static func migration(
        _ name: String, adding statements: [String] = [], of column: SQL, in table: String,
        where condition: SQL = "1 = 1"
    ) -> Schema.Migration {
        .init(
            name,
            statements + [
                "ALTER TABLE \(table) ADD COLUMN folded_name {KEY}",
                "CREATE UNIQUE INDEX folded_names ON \(table) (folded_name)",
            ]
        ) { db in
            let table = SQL(trusted: table)
            var last: Int64 = 0
            while true {
                let names: [(id: Int64, name: String)] = try db.all(
                    "SELECT id, \(column) FROM \(table) WHERE id > \(last) AND \(condition) ORDER BY id LIMIT 1000"
                ) { (try $0.get(0), try $0.get(1)) }
                guard let end = names.last?.id else { return }
                for (id, name) in names {
                    let folded = name.foldedForComparison
                    let isTaken = try db.exists("SELECT 1 FROM \(table) WHERE folded_name = \(folded)")
                    let kept = isTaken ? "\(folded)\(mark)\(id)" : folded
                    try db.run("UPDATE \(table) SET folded_name = \(kept) WHERE id = \(id)")
                }
                last = end
            }
        }
    }

    /// Returns whether no row has a name that looks like this one. If two are created at the same time, the index
    /// refuses one.
    public static func isFree(_ name: String, in table: SQL, _ db: Session) throws -> Bool {
        let folded = name.foldedForComparison
        let (first, end) = (folded + mark, folded + "\u{2}")
        return try !db.exists(
            """
            SELECT 1 FROM \(table)
            WHERE folded_name = \(folded) OR folded_name > \(first) AND folded_name < \(end)
            """)
    }
}
