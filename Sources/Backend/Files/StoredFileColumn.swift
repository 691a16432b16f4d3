import Database
import ObjectStore

/// A column of an API's database whose values name stored files.
public struct StoredFileColumn: Sendable {
    let table: String
    let column: String
    let newest: String
    let folder: String
    let mayBeAbsent: Bool

    /// - Parameters:
    ///   - newest: A column that orders the rows by their age.
    ///   - folder: The folder of the objects' keys, when the column has only the names within it.
    ///   - mayBeAbsent: Whether a row may name a file that has not been uploaded yet.
    public init(
        _ table: String, _ column: String, newest: String, folder: String? = nil, mayBeAbsent: Bool = false
    ) {
        self.table = table
        self.column = column
        self.newest = newest
        self.folder = folder.map { $0 + "/" } ?? ""
        self.mayBeAbsent = mayBeAbsent
    }

    /// Returns the keys of all files that rows name.
    func keys(in db: Session) throws -> [String] {
        let query = "SELECT \(column) FROM \(table) WHERE \(column) IS NOT NULL"
        return try db.all(SQL(trusted: query)) { folder + (try $0.get(0, as: String.self)) }
    }

    private func known(among keys: [String], in db: Session) throws -> [String] {
        let names = keys.filter { $0.hasPrefix(folder) }.map { String($0.dropFirst(folder.count)) }
        let (column, table) = (SQL(trusted: column), SQL(trusted: table))
        return try db.all("SELECT \(column) FROM \(table) WHERE \(column) IN (\(list: names))") {
            folder + (try $0.get(0, as: String.self))
        }
    }

    private func some(_ limit: Int, in db: Session) throws -> [String] {
        let query = """
            SELECT \(column) FROM \(table) WHERE \(column) IS NOT NULL ORDER BY \(newest) DESC LIMIT \(limit)
            """
        return try db.all(SQL(trusted: query)) { folder + (try $0.get(0, as: String.self)) }
    }

    fileprivate static func known(
        among keys: [String], _ columns: [StoredFileColumn], in db: Session
    ) throws -> Set<String> {
        Set(try columns.flatMap { try $0.known(among: keys, in: db) })
    }

    fileprivate static func some(_ limit: Int, _ columns: [StoredFileColumn], in db: Session) throws -> [String] {
        try columns.filter { !$0.mayBeAbsent }.flatMap { try $0.some(limit, in: db) }
    }
}

extension ObjectReferences {
    /// Makes the queries for the files that columns name.
    public init(_ columns: [StoredFileColumn], in database: Database) {
        self.init(
            known: { keys in
                try await database.read { try StoredFileColumn.known(among: keys, columns, in: $0) }
            },
            some: { limit in try await database.read { try StoredFileColumn.some(limit, columns, in: $0) } })
    }
}
