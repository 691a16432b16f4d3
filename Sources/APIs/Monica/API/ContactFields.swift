import Contract

extension Monica {
    /// A postal address. This project's server has those that came with a vCard.
    public struct Address: Codable, ReadByMembers, Hashable, Sendable, Identifiable {
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
        /// The country; nil when there is none.
        @OrNull public var country: Country?
        /// The account that it belongs to.
        public var account: AccountReference
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
    }

    /// A country. This project's server has its name only, others an object with its code.
    public struct Country: Codable, Hashable, Sendable {
        /// The name.
        public var name: String?
        /// The ISO 3166 code, such as `FR`.
        public var iso: String?

        package init(name: String) { self.name = name }

        public init(from decoder: any Decoder) throws {
            if let name = try? decoder.singleValueContainer().decode(String.self) {
                self.name = name
                iso = nil
                return
            }
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            name = try fields.text(.name)
            iso = try fields.text(.iso)
        }

        /// Encodes the name alone, unless there is a code.
        public func encode(to encoder: any Encoder) throws {
            guard iso != nil else {
                var value = encoder.singleValueContainer()
                if let name { try value.encode(name) } else { try value.encodeNil() }
                return
            }
            var fields = encoder.container(keyedBy: CodingKeys.self)
            try fields.encode(name, forKey: .name)
            try fields.encode(iso, forKey: .iso)
        }
    }

    /// A way to reach a contact, by its type: an e-mail address, a phone number, a website.
    public struct ContactField: Codable, ReadByMembers, Hashable, Sendable, Identifiable {
        /// The field's id.
        public var id: Int
        /// A UUID, which the contract publishes beside the id.
        public var uuid: String
        /// The type of the object on the wire.
        public private(set) var object = "contactfield"
        /// The e-mail address, number or URL.
        public var content: String
        /// The type of the field.
        public var contactFieldType: ContactFieldType
        /// The contract's list of labels; this project's server keeps none.
        public var labels: [JSONValue] = []
        /// The account that it belongs to.
        public var account: AccountReference
        /// The contact; nil when there is none.
        @OrNull public var contact: ShortContact?
        /// The time of creation.
        public var createdAt: Timestamp
        /// The time of the last change.
        public var updatedAt: Timestamp

        public init(
            id: Int, uuid: String, content: String, type: ContactFieldType, account: Int, contact: ShortContact?,
            createdAt: Timestamp, updatedAt: Timestamp
        ) {
            self.id = id
            self.uuid = uuid
            self.content = content
            contactFieldType = type
            self.account = AccountReference(id: account)
            self.contact = contact
            self.createdAt = createdAt
            self.updatedAt = updatedAt
        }
    }

    /// A type of contact fields, such as e-mail or phone.
    public struct ContactFieldType: Codable, ReadByMembers, Hashable, Sendable, Identifiable {
        /// The id of the type.
        public var id: Int
        /// A UUID, which the contract publishes beside the id.
        public var uuid: String
        /// The type of the object on the wire.
        public private(set) var object = "contactfieldtype"
        /// The name.
        public var name: String
        /// The name of an icon; nil when there is none.
        @OrNull public var fontawesomeIcon: String?
        /// The scheme that precedes the content in a link, such as `mailto:` or `tel:`.
        @OrNull public var `protocol`: String?
        /// Whether the type can be deleted.
        public var delible: Bool
        /// A word for the type, such as `email` or `phone`; nil for types that a user has made.
        @OrNull public var type: String?
        /// The account that it belongs to.
        public var account: AccountReference
        /// The time of creation.
        public var createdAt: Timestamp
        /// The time of the last change.
        public var updatedAt: Timestamp

        package init(
            id: Int, uuid: String, name: String, icon: String, protocol: String?, delible: Bool, type: String?,
            account: Int, createdAt: Timestamp
        ) {
            self.id = id
            self.uuid = uuid
            self.name = name
            fontawesomeIcon = icon
            self.protocol = `protocol`
            self.delible = delible
            self.type = type
            self.account = AccountReference(id: account)
            self.createdAt = createdAt
            updatedAt = createdAt
        }
    }
}
