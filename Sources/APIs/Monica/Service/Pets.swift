import Backend
import Contract
import ContractServer
import Database
import MonicaAPI

extension MonicaService {
    func pets(_ routes: inout Routes<Monica, Caller>) { details(&routes, of: Monica.Pet.self) }
}

extension Monica.Pet: ContactDetail {
    static var table: SQL { "pets" }
    static let names = "pets"

    static func owned(by account: AccountID) -> SQL { "t.account_id = \(account)" }

    static func order(by sort: Monica.Sort<Monica.PetOrder>?) -> ListOrder {
        let column: SQL = sort?.order == .updatedAt ? "t.updated_at" : "t.created_at"
        return .order(column, descending: sort?.isDescending ?? false)
    }

    static func load(_ ids: [Int], by loader: RecordLoader) throws -> [Self] {
        try load(ids, PetColumn.self, by: loader) { id, row in
            guard let category = Monica.PetCategory.of(try row.get(PetColumn.category)) else { return nil }
            return Self(
                id: id, uuid: try row.get(PetColumn.uuid), name: try row.get(PetColumn.name), category: category,
                account: loader.account.number, createdAt: try row.get(PetColumn.createdAt),
                updatedAt: try row.get(PetColumn.updatedAt))
        }
    }

    struct Fields: ContactDetailFields {
        let contact: Int
        private let category: Int
        private let name: String?

        /// The fields are judged in the order in which Monica 4 judges them.
        init(_ form: Monica.Form, by loader: RecordLoader) throws {
            var input = FormReader(form)
            let category = input.petCategory("pet_category_id")
            let contact = input.integer("contact_id", required: true)
            name = input.text("name")
            try input.check()
            (self.contact, self.category) = (contact ?? 0, category ?? 0)
        }

        func insert(uuid: String, by loader: RecordLoader, at now: Int64) throws -> Int? {
            try loader.db.insert(
                """
                INSERT INTO pets (uuid, account_id, contact_id, category_id, name, created_at, updated_at)
                VALUES (\(uuid), \(loader.account), \(contact), \(category), \(name), \(now), \(now))
                """)
        }

        func replace(_ id: Int, by loader: RecordLoader, at now: Int64) throws {
            try loader.db.run(
                "UPDATE pets SET category_id = \(category), name = \(name), updated_at = \(now) WHERE id = \(id)")
        }
    }
}

extension Monica.PetCategory {
    /// Returns the category that has an id; nil when there is none.
    fileprivate static func of(_ id: Int) -> Self? { known.first { $0.id == id } }
}

extension FormReader {
    fileprivate mutating func petCategory(_ name: String) -> Int? {
        let id = integer(name, required: true)
        if let id, Monica.PetCategory.of(id) == nil { rejectSelection(name) }
        return id
    }
}

private enum PetColumn: String, Columns {
    case uuid = "t.uuid"
    case name = "t.name"
    case category = "t.category_id"
    case createdAt = "t.created_at"
    case updatedAt = "t.updated_at"

    static let list = ColumnList(Self.self)
}
