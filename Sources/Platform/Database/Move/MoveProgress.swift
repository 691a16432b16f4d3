import Foundation

/// How far a move has come, which the draft of the target records with the rows.
enum MoveProgress {
    /// The beginning of the names of the tables that a move makes for itself.
    static let prefix = "concord_move_"

    /// Makes the tables, and remembers the constraints that are made again at the end.
    static func begin(_ constraints: [String], in db: Session) throws {
        try db.run(
            """
            CREATE TABLE concord_move_progress (
                name TEXT PRIMARY KEY, position TEXT, is_done INTEGER NOT NULL DEFAULT 0)
            """)
        try db.run("CREATE TABLE concord_move_constraints (id INTEGER PRIMARY KEY, statement TEXT NOT NULL)")
        for (index, statement) in constraints.enumerated() {
            try db.run("INSERT INTO concord_move_constraints (id, statement) VALUES (\(index), \(statement))")
        }
    }

    /// Returns whether a move into this draft has begun.
    static func hasBegun(in db: Session) throws -> Bool {
        try db.tableNames().contains("concord_move_progress")
    }

    /// Returns the key behind which a table's copy goes on; nil for one that has not begun. The flag says whether it is
    /// complete.
    static func position(of table: String, in db: Session) throws -> (key: [SQLValue]?, isDone: Bool) {
        let found = try db.one("SELECT position, is_done FROM concord_move_progress WHERE name = \(table)") {
            (try $0.get(0, as: String?.self), try $0.get(1, as: Int.self) != 0)
        }
        guard let found else { return (nil, false) }
        return (try found.0.map { try JSONDecoder().decode([Value].self, from: Data($0.utf8)).map(\.value) }, found.1)
    }

    static func set(_ table: String, to key: [SQLValue]?, isDone: Bool, in db: Session) throws {
        let text = try key.map { String(decoding: try JSONEncoder().encode($0.map(Value.init)), as: UTF8.self) }
        try db.run(
            """
            INSERT INTO concord_move_progress (name, position, is_done) VALUES (\(table), \(text), \(isDone ? 1 : 0))
            ON CONFLICT (name) DO UPDATE SET position = excluded.position, is_done = excluded.is_done
            """)
    }

    static func constraints(in db: Session) throws -> [String] {
        try db.all("SELECT statement FROM concord_move_constraints ORDER BY id") { try $0.get(0) }
    }

    static func end(in db: Session) throws {
        try db.run("DROP TABLE concord_move_progress")
        try db.run("DROP TABLE concord_move_constraints")
    }

    /// A value of a key as JSON.
    private struct Value: Codable {
        var integer: Int64?
        var text: String?
        var bytes: Data?

        init(_ value: SQLValue) {
            switch value {
            case .integer(let number): integer = number
            case .text(let string): text = string
            case .bytes(let array): bytes = Data(array)
            // Keys have neither.
            case .real, .null: break
            }
        }

        var value: SQLValue {
            if let integer { return .integer(integer) }
            if let text { return .text(text) }
            return bytes.map { .bytes([UInt8]($0)) } ?? .null
        }
    }
}

/// The reason why a database was not moved. Its description is for the operator.
package struct MoveRefused: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
