import Contract
import Database

/// A table of accounts whose people an operator finds, helps and suspends (`concord people`). It has a column `created_at`
/// those of ``Suspension``, and the indexes of ``PeopleSearch/indexes(of:searched:)``.
public protocol PeopleTable: AccountTable where ID: Comparable & Codable {
    /// The columns by whose beginnings a person is found: names and addresses.
    static var searched: [SQL] { get }
    /// The column with the name by which the person is known.
    static var nameColumn: SQL { get }
    /// The API's refusal of a person who is suspended, with 403. The end and the reason are added to its message.
    static var suspended: Problem { get }
    /// The column that says whether the address is verified; nil for an API that does not keep that.
    static var verifiedColumn: SQL? { get }

    /// The column with the version of the terms that the person has accepted; nil for an API that does not keep that.
    static var termsColumn: SQL? { get }

    /// Returns the id that an operator has written; nil for a text that is none.
    static func id(written text: String) -> ID?
    /// Returns the people one of whose names contains a text, if the API has an index of parts of names. Others are found
    /// by the beginning of a name alone.
    static func ids(ofNamesContaining text: String, limit: Int, in db: Session) throws -> [ID]
    /// Returns the person's sessions, the one that was used last first.
    static func sessions(of id: ID, at now: Int64, in db: Session) throws -> [PersonRecord.Session]
    /// Returns the size of the person's files in bytes; nil for an API without a limit on it.
    static func storage(of id: ID, in db: Session) throws -> Int64?
    /// Whether the API has reports: the tables of ``ReportQueue``.
    static var hasReports: Bool { get }
}

extension PeopleTable {
    public static var verifiedColumn: SQL? { nil }
    public static var termsColumn: SQL? { nil }

    public static func ids(ofNamesContaining text: String, limit: Int, in db: Session) throws -> [ID] { [] }
    public static func storage(of id: ID, in db: Session) throws -> Int64? { nil }
    public static var hasReports: Bool { false }

    /// Returns how many reports the person has made, and how many are about the person or what they wrote; nil for an API
    /// without reports.
    static func reports(of id: ID, in db: Session) throws -> PersonRecord.Reports? {
        hasReports ? try ReportQueue<Self>.count(of: id, in: db) : nil
    }
}

extension PeopleTable where ID.RawValue == Int64 {
    public static func id(written text: String) -> ID? {
        Int64(text).flatMap { "\($0)" == text ? ID(rawValue: $0) : nil }
    }
}

extension PeopleTable where ID.RawValue == String {
    public static func id(written text: String) -> ID? {
        1...255 ~= text.unicodeScalars.count && !text.containsNUL ? ID(rawValue: text) : nil
    }
}

/// A person as an operator sees them.
public struct PersonRecord: Codable, Equatable, Sendable {
    /// The API's name.
    public let api: String
    /// The id as the API writes it.
    public let id: String
    public let name: String?
    public let email: String?
    /// Whether the address is verified; nil where the API does not keep that.
    public let isVerified: Bool?
    public let createdAt: Moment
    /// The suspension that holds now; nil for none.
    public let suspension: Suspension?

    enum CodingKeys: String, CodingKey {
        case api, id, name, email
        case isVerified = "verified"
        case createdAt = "created_at"
        case suspension
    }

    /// A time in milliseconds since 1970, which is written as text: `2026-02-23T10:00:00Z`.
    public struct Moment: Codable, Sendable, Comparable, CustomStringConvertible {
        let milliseconds: Int64

        public init(_ milliseconds: Int64) { self.milliseconds = milliseconds }

        public init(from decoder: any Decoder) throws {
            milliseconds = try Timestamp<Seconds>(from: decoder).milliseconds
        }

        public static func < (a: Moment, b: Moment) -> Bool { a.milliseconds < b.milliseconds }

        public var description: String { Timestamp<Seconds>(milliseconds: milliseconds).description }
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(description)
        }
    }

    /// A session, or another permission to use the account, such as a personal access token.
    public struct Session: Codable, Equatable, Sendable {
        public let device: String?
        public let startedAt: Moment?
        public let usedAt: Moment?
        public let address: String?

        public init(device: String?, startedAt: Moment?, usedAt: Moment?, address: String?) {
            self.device = device
            self.startedAt = startedAt
            self.usedAt = usedAt
            self.address = address
        }

        enum CodingKeys: String, CodingKey {
            case device
            case startedAt = "started_at"
            case usedAt = "used_at"
            case address
        }
    }

    public struct Reports: Codable, Equatable, Sendable {
        public let by: Int
        public let about: Int

        public init(by: Int, about: Int) {
            self.by = by
            self.about = about
        }
    }
}

/// What every API does in the same way with its people.
public enum PeopleSearch {
    /// The statements of a schema's step that let an operator find people by the beginnings of names and addresses.
    ///
    /// - Parameter searched: The columns of ``PeopleTable/searched``.
    public static func indexes(of table: String, searched: [String]) -> [String] {
        searched.map { "CREATE INDEX people_by_\($0) ON \(table) (lower(\($0) {BYTEWISE}))" }
    }

    /// Returns the people whose id is a text, or one of whose names and addresses begins with it; at most so many.
    static func find<Table: PeopleTable>(
        _ text: String, in _: Table.Type, limit: Int, _ db: Session
    ) throws -> [Table.ID] {
        var found: [Table.ID] = []
        func add(_ ids: [Table.ID]) { for id in ids where !found.contains(id) { found.append(id) } }
        if let id = Table.id(written: text), try Table.exists(id, in: db) { add([id]) }
        for column in Table.searched {
            for beginning in forms(of: text) where found.count < limit {
                add(
                    try db.all(query(beginning, of: column, in: Table.self, limit: limit, db)) { try $0.get(0) })
            }
        }
        if found.count < limit { add(try Table.ids(ofNamesContaining: text, limit: limit, in: db)) }
        return Array(found.prefix(limit))
    }

    /// Returns the query for those in one of whose columns a text begins with another, in one of its ``forms(of:)``.
    static func query<Table: PeopleTable>(
        _ beginning: String, of column: SQL, in _: Table.Type, limit: Int, _ db: Session
    ) -> SQL {
        let key: SQL = "lower(\(column) \(db.bytewise))"
        return """
            SELECT id FROM \(Table.table)
            WHERE \(key) >= \(beginning) AND \(key) < \(beginning + "\u{10FFFF}") AND \(Table.isPresent)
            ORDER BY \(key) LIMIT \(limit)
            """
    }

    /// Returns the forms in which an index may have a text: both engines' `lower` changes ASCII alone.
    private static func forms(of text: String) -> [String] {
        let forms = [text, text.lowercased(), text.capitalized].map { form in
            String(
                String.UnicodeScalarView(
                    form.precomposedStringWithCanonicalMapping.unicodeScalars.map {
                        "A"..."Z" ~= $0 ? Unicode.Scalar($0.value + 32) ?? $0 : $0
                    }))
        }
        return forms.enumerated().filter { !forms.prefix($0.offset).contains($0.element) }.map(\.element)
    }

    /// Returns people with what a list shows of them, in the order of their ids.
    static func list<Table: PeopleTable>(
        _ ids: [Table.ID], of api: String, in _: Table.Type, at now: Int64, _ db: Session
    ) throws -> [PersonRecord] {
        guard !ids.isEmpty else { return [] }
        return try db.all(
            """
            SELECT id, \(Table.nameColumn), email, created_at, \(Table.verifiedColumn ?? "NULL"), \(Suspension.columns)
            FROM \(Table.table) WHERE id IN (\(list: ids)) AND \(Table.isPresent) ORDER BY id
            """
        ) { row in
            PersonRecord(
                api: api, id: "\(try row.get(0, as: Table.ID.self).rawValue)", name: try row.get(1),
                email: try row.get(2), isVerified: try row.get(4), createdAt: PersonRecord.Moment(try row.get(3)),
                suspension: try Suspension(row: row, at: 5, now: now))
        }
    }
}
