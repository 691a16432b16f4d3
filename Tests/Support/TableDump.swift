import Crypto
import Database
import Foundation

/// The content of all tables of a database as text, for finding data that should have been deleted.
public struct TableDump: Sendable {
    /// The cells as `table.column: value`. A byte string appears as text and in hexadecimal digits.
    public let cells: [String]

    public init(_ database: Database, engine: Stack.Engine) async throws {
        cells = try await database.read { db in
            let columns = try Self.columns(in: db, engine)
            return try columns.flatMap { table, column, type -> [String] in
                let isBytes = type == "BLOB" || type == "bytea"
                let value =
                    !isBytes
                    ? "CAST(\(column) AS TEXT)" : engine == .sqlite ? "hex(\(column))" : "encode(\(column), 'hex')"
                let texts: [String] = try db.all(
                    SQL(trusted: "SELECT \(value) FROM \(table) WHERE \(column) IS NOT NULL")
                ) { try $0.get(0) }
                return texts.map { text in
                    "\(table).\(column): " + (isBytes ? "\(Self.decoded(text)) \(text.lowercased())" : text)
                }
            }
        }
    }

    /// Returns the columns of each table.
    public static func columns(of database: Database, engine: Stack.Engine) async throws -> [String: [String]] {
        try await database.read { db in
            Dictionary(grouping: try columns(in: db, engine), by: \.table).mapValues { $0.map(\.column) }
        }
    }

    private static func columns(
        in db: Session, _ engine: Stack.Engine
    ) throws -> [(table: String, column: String, type: String)] {
        try db.all(
            engine == .sqlite
                ? """
                SELECT m.name, c.name, c.type FROM sqlite_master m JOIN pragma_table_info(m.name) c
                WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'
                """
                : """
                SELECT CAST(table_name AS TEXT), CAST(column_name AS TEXT), CAST(data_type AS TEXT)
                FROM information_schema.columns WHERE table_schema = current_schema()
                """
        ) { (try $0.get(0), try $0.get(1), try $0.get(2)) }
    }

    /// Returns the cells that contain one of the texts, in upper or lower case, or its digest.
    public func cells(mentioning texts: [String]) -> [String] {
        let needles = texts.flatMap { text -> [String] in
            let digest = SHA256.hash(data: Array(text.utf8)).prefix(12)
            return [
                text.lowercased(), digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(),
                Data(digest).base64EncodedString().lowercased(),
            ]
        }
        return cells.filter { cell in
            let cell = cell.lowercased()
            return needles.contains { cell.contains($0) }
        }
    }

    private static func decoded(_ hexadecimal: String) -> String {
        let digits = Array(hexadecimal.utf8)
        let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap { index in
            UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension Database {
    /// Gives the next row of a table an id that appears nowhere else.
    public func makeIDsRare(in table: String, from first: Int64, engine: Stack.Engine) async throws {
        let statement =
            engine == .sqlite
            ? "INSERT INTO sqlite_sequence (name, seq) VALUES ('\(table)', \(first - 1))"
            : "ALTER TABLE \(table) ALTER COLUMN id RESTART WITH \(first)"
        try await write { try $0.run(SQL(trusted: statement)) }
    }
}
