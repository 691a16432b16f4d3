import Contract

extension Monica {
    static let contactFields = Section(
        "Contact fields",
        [
            List<ContactField>.self, ListOfContact<ContactField>.self, Get<ContactField>.self,
            Create<ContactField>.self, Update<ContactField>.self, Delete<ContactField>.self,
            ListContactFieldTypes.self, Get<ContactFieldType>.self, Create<ContactFieldType>.self,
            Update<ContactFieldType>.self, Delete<ContactFieldType>.self,
        ])

    /// The orders of a list of contact fields.
    public enum ContactFieldOrder: String, Order {
        case createdAt = "created_at"
        case updatedAt = "updated_at"
    }

    /// A way to reach a contact, by its type: an e-mail address, a phone number, a website.
    public struct ContactField: Listed, Writable, ReadByMembers, Identifiable {
        public typealias By = ContactFieldOrder
        public typealias Draft = ContactFieldDraft
        public static let plural = "contactfields"
        public static let singular = "contact field"
        public static let fieldRules = contactFieldRules
        public static let createdStatus = HTTPStatus.created
        /// The maximum number of contact fields of a contact.
        public static let maximumNumber = 100

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

        public func isOf(_ contact: Int) -> Bool { self.contact?.id == contact }
    }

    /// The fields of a new or changed contact field.
    public struct ContactFieldDraft: Draft, Hashable {
        public typealias Item = ContactField

        /// The contact's id. A contact field stays with its contact: a change names the same one.
        public var contactID: Int
        /// The id of the type, one of ``ListContactFieldTypes``.
        public var typeID: Int
        /// The e-mail address, number or URL: at most 255 characters.
        public var content: String
        private init(derived: Never) { switch derived {} }

        public var form: Form {
            Form([
                "contact_id": .integer(Int64(contactID)), "contact_field_type_id": .integer(Int64(typeID)),
                "data": .string(content),
            ])
        }
    }

    /// `GET /contactfieldtypes`: returns all types of contact fields, the oldest first.
    public struct ListContactFieldTypes: Endpoint {
        public static let route = Route.get("/contactfieldtypes")
        public typealias Output = APIResponse<[ContactFieldType]>

        public init() {}
    }

    /// A type of contact fields, such as e-mail or phone.
    public struct ContactFieldType: Writable, ReadByMembers, Identifiable {
        public typealias Draft = ContactFieldTypeDraft
        public static let plural = "contactfieldtypes"
        public static let singular = "contact field type"
        public static let fieldRules = contactFieldTypeRules
        public static let createdStatus = HTTPStatus.created
        /// The maximum number of types of an account.
        public static let maximumNumber = 100

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
        /// Whether the type can be deleted: those with which an account begins cannot, and no type that is in use.
        public var delible: Bool
        /// A word for the type, such as `email` or `phone`, by which apps know what it is for; nil when there is none.
        @OrNull public var type: String?
        /// The account that it belongs to.
        public var account: AccountReference
        /// The time of creation.
        public var createdAt: Timestamp
        /// The time of the last change.
        public var updatedAt: Timestamp

        package init(
            id: Int, uuid: String, name: String, icon: String?, protocol: String?, delible: Bool, type: String?,
            account: Int, createdAt: Timestamp, updatedAt: Timestamp? = nil
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
            self.updatedAt = updatedAt ?? createdAt
        }
    }

    /// The fields of a new or changed type of contact fields.
    public struct ContactFieldTypeDraft: Draft, Hashable {
        public typealias Item = ContactFieldType

        /// The name: at most 255 characters.
        public var name: String
        /// The name of an icon, such as `fa fa-telegram`; nil when there is none.
        public var icon: String? = nil
        /// The scheme that precedes the content in a link; nil when there is none.
        public var `protocol`: String? = nil
        /// A word for the type: `email`, `phone` and `website` make it one of these, where contacts are exported. The types
        /// with which an account begins keep theirs.
        public var type: String? = nil
        private init(derived: Never) { switch derived {} }

        public var form: Form {
            Form([
                "name": .string(name), "fontawesome_icon": .orNull(icon), "protocol": .orNull(`protocol`),
                "type": .orNull(type),
            ])
        }
    }
}
