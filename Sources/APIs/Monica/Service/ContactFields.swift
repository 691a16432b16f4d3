import Backend
import Contract
import ContractServer
import Database
import MonicaAPI

extension MonicaService {
    func contactFields(_ routes: inout Routes<Monica, Caller>) {
        details(&routes, of: Monica.ContactField.self)
        routes.on { (_: Monica.ListContactFieldTypes, caller: Caller) in try await self.all(for: caller) }
        types(&routes, of: Monica.ContactFieldType.self)
    }
}

struct FieldTypeFields: WrittenFields {
    let name: String
    let icon: String?
    let `protocol`: String?
    let type: String?

    init(name: String) {
        self.name = name
        icon = nil
        self.protocol = nil
        type = nil
    }

    init(_ form: Monica.Form, by loader: RecordLoader) throws {
        var input = FormReader(form)
        let name = input.text("name", required: true)
        icon = input.text("fontawesome_icon")
        self.protocol = input.text("protocol")
        type = input.text("type")
        try input.check()
        self.name = name ?? ""
    }

    func insert(uuid: String, by loader: RecordLoader, at now: Int64) throws -> Int? {
        try insert(uuid: uuid, into: loader.account, importing: nil, at: now, in: loader.db)
    }

    /// - Parameter importing: The import that creates the type; nil for a user's request.
    func insert(uuid: String, into account: AccountID, importing: Int?, at now: Int64, in db: Session) throws -> Int? {
        try db.insert(
            """
            INSERT INTO contact_field_types (
                uuid, account_id, kind, name, icon, protocol, type, import_id, created_at, updated_at)
            VALUES (\(uuid), \(account), \("own " + uuid), \(name), \(icon), \(self.protocol), \(type),
                \(importing), \(now), \(now))
            """)
    }

    func replace(_ id: Int, by loader: RecordLoader, at now: Int64) throws {
        try loader.db.run(
            """
            UPDATE contact_field_types SET name = \(name), icon = \(icon), protocol = \(self.protocol),
                type = \(type), updated_at = \(now)
            WHERE id = \(id)
            """)
    }
}

extension Monica.ContactFieldType: AccountType {
    typealias Fields = FieldTypeFields

    static var table: SQL { "contact_field_types" }
    static let names = "contact field types"

    /// The types are read anew each time, because a write reads one before and after it.
    static func all(by loader: RecordLoader) throws -> [Self] {
        try ContactDetails.sortedTypes(of: loader.account, in: loader.db)
    }

    func release(at now: Int64, in db: Session) throws {
        if !delible { throw Monica.Problems.invalid(["The contact field type can't be deleted."]) }
        for table: SQL in ["contact_fields", "conversations"]
        where try db.exists("SELECT 1 FROM \(table) WHERE type_id = \(id)") {
            throw Monica.Problems.invalid(["The contact field type is in use."])
        }
    }
}

extension Monica.ContactField: ContactDetail {
    static var table: SQL { "contact_fields" }
    static let names = "contact fields"
    static let isInCards = true
    static let isSearched = true

    static func order(by sort: Monica.Sort<Monica.ContactFieldOrder>?) -> ListOrder {
        let column: SQL = sort?.order == .updatedAt ? "t.updated_at" : "t.created_at"
        return .order(column, descending: sort?.isDescending ?? false)
    }

    static func load(_ ids: [Int], by loader: RecordLoader) throws -> [Self] {
        let types = try loader.fieldTypes.get()
        return try load(ids, FieldColumn.self, by: loader) { id, row in
            guard let type = types[try row.get(FieldColumn.type)]?.type else { return nil }
            return Self(
                id: id, uuid: try row.get(FieldColumn.uuid), content: try row.get(FieldColumn.content), type: type,
                account: loader.account.number, contact: nil, createdAt: try row.get(FieldColumn.createdAt),
                updatedAt: try row.get(FieldColumn.updatedAt))
        }
    }

    struct Fields: ContactDetailFields {
        let contact: Int
        private let type: Int
        private let content: String

        init(_ form: Monica.Form, by loader: RecordLoader) throws {
            var input = FormReader(form)
            let contact = input.integer("contact_id", required: true)
            let type = input.integer("contact_field_type_id", required: true)
            let known = try type.map { try loader.fieldTypes.get()[$0] }
            if case .some(.none) = known { input.rejectSelection("contact_field_type_id") }
            content = Self.content(known??.kind, &input) ?? ""
            try input.check()
            (self.contact, self.type) = (contact ?? 0, type ?? 0)
        }

        /// An e-mail address to which nothing could be sent is refused, as it is in a new contact, and a website's that no
        /// card can hold.
        private static func content(_ kind: ContactFieldKind?, _ input: inout FormReader) -> String? {
            guard kind != .email else { return input.email("data", required: true) }
            let content = input.text("data", required: true)
            if kind == .website, let content, !ContactDetails.isPlain(content) {
                input.reject("data", "format is invalid.")
            }
            return content
        }

        func insert(uuid: String, by loader: RecordLoader, at now: Int64) throws -> Int? {
            try loader.db.insert(
                """
                INSERT INTO contact_fields (uuid, contact_id, type_id, content, created_at, updated_at)
                VALUES (\(uuid), \(contact), \(type), \(content), \(now), \(now))
                """)
        }

        func replace(_ id: Int, by loader: RecordLoader, at now: Int64) throws {
            try loader.db.run(
                """
                UPDATE contact_fields SET type_id = \(type), content = \(content), updated_at = \(now) WHERE id = \(id)
                """)
        }
    }
}

private enum FieldColumn: String, Columns {
    case uuid = "t.uuid"
    case content = "t.content"
    case type = "t.type_id"
    case createdAt = "t.created_at"
    case updatedAt = "t.updated_at"

    static let list = ColumnList(Self.self)
}
