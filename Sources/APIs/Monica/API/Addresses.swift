import Contract

extension Monica {
    static let addresses = Section(
        "Addresses",
        [
            List<Address>.self, ListOfContact<Address>.self, Get<Address>.self, Create<Address>.self,
            Update<Address>.self, Delete<Address>.self, ListCountries.self,
        ])

    /// The orders of a list of addresses.
    public enum AddressOrder: String, Order {
        case createdAt = "created_at"
        case updatedAt = "updated_at"
    }

    /// A postal address.
    public struct Address: Listed, Writable, ReadByMembers, Identifiable {
        public typealias By = AddressOrder
        public typealias Draft = AddressDraft
        public static let plural = "addresses"
        public static let singular = "address"
        public static let fieldRules = addressRules
        public static let createdStatus = HTTPStatus.created
        /// The maximum number of addresses of a contact.
        public static let maximumNumber = 100

        /// The address's id.
        public var id: Int
        /// A UUID, which the contract publishes beside the id.
        public var uuid: String
        /// The type of the object on the wire.
        public private(set) var object = "address"
        /// The owner's name for the address, such as `home` or `work`.
        @OrNull public var name: String?
        /// The street and number.
        @OrNull public var street: String?
        /// The city.
        @OrNull public var city: String?
        /// The province or state.
        @OrNull public var province: String?
        /// The postal code.
        @OrNull public var postalCode: String?
        /// The country; nil when there is none. In a contact it has its name alone.
        @OrNull public var country: Country?
        /// The account that it belongs to.
        public var account: AccountReference
        /// The contact; nil in the list of the contact itself.
        public var contact: ShortContact?
        /// The time of creation.
        public var createdAt: Timestamp
        /// The time of the last change.
        public var updatedAt: Timestamp

        package init(
            id: Int, uuid: String, name: String?, street: String?, city: String?, province: String?,
            postalCode: String?, country: String?, account: Int, createdAt: Timestamp, updatedAt: Timestamp
        ) {
            self.id = id
            self.uuid = uuid
            self.name = name
            self.street = street
            self.city = city
            self.province = province
            self.postalCode = postalCode
            self.country = country.map { Country(name: $0) }
            self.account = AccountReference(id: account)
            self.createdAt = createdAt
            self.updatedAt = updatedAt
        }

        public func isOf(_ contact: Int) -> Bool { self.contact?.id == contact }
    }

    /// The fields of a new or changed address, each of which may be nil.
    public struct AddressDraft: Draft, Hashable {
        public typealias Item = Address

        /// The contact's id. An address stays with its contact: a change names the same one.
        public var contactID: Int
        /// The owner's name for the address, such as `home` or `work`: at most 255 characters, as the other texts.
        public var name: String? = nil
        /// The street and number.
        public var street: String? = nil
        /// The city.
        public var city: String? = nil
        /// The province or state.
        public var province: String? = nil
        /// The postal code.
        public var postalCode: String? = nil
        /// The id of a country, such as `FR`, one of ``ListCountries``; or the name of a country.
        public var country: String? = nil
        private init(derived: Never) { switch derived {} }

        public var form: Form {
            Form([
                "contact_id": .integer(Int64(contactID)), "name": .orNull(name), "street": .orNull(street),
                "city": .orNull(city), "province": .orNull(province), "postal_code": .orNull(postalCode),
                "country": .orNull(country),
            ])
        }
    }

    /// `GET /countries`: returns all countries and territories of ISO 3166-1, by their English names.
    public struct ListCountries: Endpoint {
        public static let route = Route.get("/countries")
        public typealias Output = APIResponse<[Country]>

        public init() {}
    }

    /// A country. In a contact's addresses this project's server has its name only.
    public struct Country: Codable, Hashable, Sendable {
        /// The id by which an address is given the country: its code. Nil for a name that is no country's.
        public var id: String?
        /// The name.
        public var name: String?
        /// The ISO 3166 code, such as `FR`.
        public var iso: String?
        /// Whether it is an object on the wire, and not the name alone.
        private var isObject = false

        package init(name: String) { self.name = name }

        /// Creates a country that is an object on the wire.
        package init(id: String?, name: String?) {
            (self.id, iso, self.name) = (id, id, name)
            isObject = true
        }

        enum CodingKeys: String, CodingKey { case id, object, name, iso }

        public init(from decoder: any Decoder) throws {
            if let name = try? decoder.singleValueContainer().decode(String.self) {
                self.name = name
                return
            }
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            id = try fields.text(.id)
            name = try fields.text(.name)
            iso = try fields.text(.iso)
            isObject = true
        }

        public func encode(to encoder: any Encoder) throws {
            guard isObject else {
                var value = encoder.singleValueContainer()
                if let name { try value.encode(name) } else { try value.encodeNil() }
                return
            }
            var fields = encoder.container(keyedBy: CodingKeys.self)
            try fields.encode(id, forKey: .id)
            try fields.encode("country", forKey: .object)
            try fields.encode(name, forKey: .name)
            try fields.encode(iso, forKey: .iso)
        }
    }
}
