import Contract

extension Monica {
    /// Where somebody lives. This project's server has those that came with a vCard.
    public struct Address: Codable, Hashable, Sendable, Identifiable {
        public var id: Int
        public var uuid: String
        public private(set) var object = "address"
        /// What the owner calls it: `home`, `work`.
        @OrNull public var name: String?
        @OrNull public var street: String?
        @OrNull public var city: String?
        @OrNull public var province: String?
        @OrNull public var postalCode: String?
        @OrNull public var country: Country?
        public var account: AccountReference
        public var createdAt: Timestamp
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

        enum CodingKeys: String, CodingKey {
            case id, uuid, object, name, street, city, province
            case postalCode = "postal_code"
            case country, account
            case createdAt = "created_at"
            case updatedAt = "updated_at"
        }

        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            id = try fields.id(.id)
            uuid = try fields.text(.uuid) ?? ""
            name = try fields.text(.name)
            street = try fields.text(.street)
            city = try fields.text(.city)
            province = try fields.text(.province)
            postalCode = try fields.text(.postalCode)
            country = try fields.value(.country)
            account = try fields.value(.account) ?? AccountReference(id: 0)
            createdAt = try fields.time(.createdAt) ?? Timestamp(milliseconds: 0)
            updatedAt = try fields.time(.updatedAt) ?? createdAt
        }
    }

    /// A country: this project's server has its name alone, others an object with its code.
    public struct Country: Codable, Hashable, Sendable {
        public var name: String?
        /// ISO 3166: `FR`.
        public var iso: String?

        package init(name: String) {
            self.name = name
            iso = nil
        }

        enum CodingKeys: String, CodingKey { case name, iso }

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

        /// The name alone, unless there is a code beside it.
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

    /// How somebody is reached: an address of mail, a phone, a website, by its type.
    public struct ContactField: Codable, Hashable, Sendable, Identifiable {
        public var id: Int
        public var uuid: String
        public private(set) var object = "contactfield"
        public var content: String
        public var contactFieldType: ContactFieldType
        public var labels: [JSONValue]
        public var account: AccountReference
        @OrNull public var contact: ShortContact?
        public var createdAt: Timestamp
        public var updatedAt: Timestamp

        public init(
            id: Int, uuid: String, content: String, type: ContactFieldType, account: Int, contact: ShortContact?,
            createdAt: Timestamp, updatedAt: Timestamp
        ) {
            self.id = id
            self.uuid = uuid
            self.content = content
            contactFieldType = type
            labels = []
            self.account = AccountReference(id: account)
            self.contact = contact
            self.createdAt = createdAt
            self.updatedAt = updatedAt
        }

        enum CodingKeys: String, CodingKey {
            case id, uuid, object, content
            case contactFieldType = "contact_field_type"
            case labels, account, contact
            case createdAt = "created_at"
            case updatedAt = "updated_at"
        }

        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            id = try fields.id(.id)
            uuid = try fields.text(.uuid) ?? ""
            content = try fields.text(.content) ?? ""
            contactFieldType = try fields.decode(ContactFieldType.self, forKey: .contactFieldType)
            labels = try fields.list(.labels)
            account = try fields.value(.account) ?? AccountReference(id: 0)
            contact = try fields.value(.contact)
            createdAt = try fields.time(.createdAt) ?? Timestamp(milliseconds: 0)
            updatedAt = try fields.time(.updatedAt) ?? createdAt
        }
    }

    public struct ContactFieldType: Codable, Hashable, Sendable, Identifiable {
        public var id: Int
        public var uuid: String
        public private(set) var object = "contactfieldtype"
        public var name: String
        @OrNull public var fontawesomeIcon: String?
        /// What stands before the content in a link: `mailto:`, `tel:`.
        @OrNull public var `protocol`: String?
        public var delible: Bool
        @OrNull public var type: String?
        public var account: AccountReference
        public var createdAt: Timestamp
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

        enum CodingKeys: String, CodingKey {
            case id, uuid, object, name
            case fontawesomeIcon = "fontawesome_icon"
            case `protocol`, delible, type, account
            case createdAt = "created_at"
            case updatedAt = "updated_at"
        }

        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            id = try fields.id(.id)
            uuid = try fields.text(.uuid) ?? ""
            name = try fields.text(.name) ?? ""
            fontawesomeIcon = try fields.text(.fontawesomeIcon)
            `protocol` = try fields.text(.protocol)
            delible = try fields.truth(.delible) ?? false
            type = try fields.text(.type)
            account = try fields.value(.account) ?? AccountReference(id: 0)
            createdAt = try fields.time(.createdAt) ?? Timestamp(milliseconds: 0)
            updatedAt = try fields.time(.updatedAt) ?? createdAt
        }
    }
}
