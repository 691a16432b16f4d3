import Contract
import Database

/// Usernames as they are compared where none may look like another (``Swift/String/foldedForComparison``), in a column of
/// their own beside the key by which people sign in. No two accounts have the same.
///
/// Accounts that were made before there was such a rule, and look like an older one, have theirs with a mark behind it.
public enum FoldedNames {
    /// In no name: it is a control character.
    private static let mark = "\u{1}"

    /// The step of an API's schema that makes the column `folded_name`, and fills it from `username`.
    ///
    /// - Parameters:
    ///   - statements: Of the same step.
    ///   - table: With `id`, which grows, and `username`.
    ///   - condition: Of rows that have a name.
    public static func migration(
        adding statements: [String] = [], to table: String, where condition: SQL = "1 = 1"
    ) -> Schema.Migration {
        .init(
            "names that look alike, and answers that go with an account",
            statements + [
                "ALTER TABLE \(table) ADD COLUMN folded_name {KEY}",
                "CREATE UNIQUE INDEX folded_names ON \(table) (folded_name)",
            ]
        ) { db in
            let table = SQL(stringLiteral: table)
            var last: Int64 = 0
            while true {
                let names: [(id: Int64, name: String)] = try db.all(
                    "SELECT id, username FROM \(table) WHERE id > \(last) AND \(condition) ORDER BY id LIMIT 1000"
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

    /// Whether no account has a name that looks like this one. Of two that are made at once the index refuses one.
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
