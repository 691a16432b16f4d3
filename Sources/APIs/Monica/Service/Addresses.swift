import Backend
import Contract
import ContractServer
import Database
import MonicaAPI

extension MonicaService {
    func addresses(_ routes: inout Routes<Monica, Caller>) {
        details(&routes, of: Monica.Address.self)
        routes.on { (_: Monica.ListCountries, _: Caller) in APIResponse(data: Countries.all) }
    }
}

extension Monica.Address: ContactDetail {
    static var table: SQL { "addresses" }
    static let names = "addresses"
    static let isInCards = true

    static func owned(by account: AccountID) -> SQL { "t.account_id = \(account)" }

    static func order(by sort: Monica.Sort<Monica.AddressOrder>?) -> ListOrder {
        let column: SQL = sort?.order == .updatedAt ? "t.updated_at" : "t.created_at"
        return .order(column, descending: sort?.isDescending ?? false)
    }

    static func load(_ ids: [Int], by loader: RecordLoader) throws -> [Self] {
        try load(ids, AddressColumn.self, by: loader) { id, row in
            var address = Self(
                id: id, uuid: try row.get(AddressColumn.uuid), name: try row.get(AddressColumn.name),
                street: try row.get(AddressColumn.street), city: try row.get(AddressColumn.city),
                province: try row.get(AddressColumn.province), postalCode: try row.get(AddressColumn.postalCode),
                country: nil, account: loader.account.number, createdAt: try row.get(AddressColumn.createdAt),
                updatedAt: try row.get(AddressColumn.updatedAt))
            address.country = try row.get(AddressColumn.country, as: String?.self)
                .map { Monica.Country(id: Countries.find($0)?.id, name: $0) }
            return address
        }
    }

    struct Fields: ContactDetailFields {
        let contact: Int
        private let address: PostalAddress

        init(_ form: Monica.Form, by loader: RecordLoader) throws {
            var input = FormReader(form)
            let contact = input.integer("contact_id", required: true)
            var address = PostalAddress()
            address.name = input.text("name")
            address.street = input.text("street")
            address.city = input.text("city")
            address.province = input.text("province")
            address.postalCode = input.text("postal_code")
            address.country = Self.country(&input)
            try input.check()
            (self.contact, self.address) = (contact ?? 0, address)
        }

        /// Returns the name of a country, which is stored because contacts and cards have it. Up to three characters are
        /// meant as a code, and a longer text that is no country's name is kept, as that of a card is.
        private static func country(_ input: inout FormReader) -> String? {
            guard let text = input.text("country") else { return nil }
            if let country = Countries.find(text) { return country.name }
            if text.count <= 3 { input.rejectSelection("country") }
            return text
        }

        func insert(uuid: String, by loader: RecordLoader, at now: Int64) throws -> Int? {
            try loader.db.insert(ContactDetails.insertion(of: address, uuid: uuid, to: contact, at: now))
        }

        func replace(_ id: Int, by loader: RecordLoader, at now: Int64) throws {
            try loader.db.run(
                """
                UPDATE addresses SET name = \(address.name), street = \(address.street), city = \(address.city),
                    province = \(address.province), postal_code = \(address.postalCode),
                    country = \(address.country), updated_at = \(now)
                WHERE id = \(id)
                """)
        }
    }
}

private enum AddressColumn: String, Columns {
    case uuid = "t.uuid"
    case name = "t.name"
    case street = "t.street"
    case city = "t.city"
    case province = "t.province"
    case postalCode = "t.postal_code"
    case country = "t.country"
    case createdAt = "t.created_at"
    case updatedAt = "t.updated_at"

    static let list = ColumnList(Self.self)
}
