import Contract

extension Monica {
    static let account: [any Contract.Endpoint.Type] = [
        GetMe.self, ListGenders.self, ListActivityTypes.self, ExportJSON.self, ExportVCard.self,
    ]

    /// `GET /me`: whose token it is.
    public struct GetMe: Endpoint {
        public static let route = Route.get("/me")
        public typealias Output = APIResponse<User>

        public init() {}
    }

    public struct User: Codable, Hashable, Sendable, Identifiable {
        public var id: Int
        public var uuid: String
        public private(set) var object = "user"
        public var firstName: String
        public var lastName: String
        public var name: String
        public var email: String
        @OrNull public var meContact: ShortContact?
        public var timezone: String
        public var currency: Currency
        public var locale: String
        public var isPolicyCompliant: Bool
        public var account: AccountReference
        public var createdAt: Timestamp
        public var updatedAt: Timestamp

        public init(
            id: Int, uuid: String, firstName: String, lastName: String, email: String, createdAt: Timestamp,
            updatedAt: Timestamp
        ) {
            self.id = id
            self.uuid = uuid
            self.firstName = firstName
            self.lastName = lastName
            name = Names.complete(firstName, lastName)
            self.email = email
            meContact = nil
            timezone = "UTC"
            currency = Currency(id: 1, iso: "USD", name: "US Dollar", symbol: "$")
            locale = "en"
            isPolicyCompliant = true
            account = AccountReference(id: id)
            self.createdAt = createdAt
            self.updatedAt = updatedAt
        }

        enum CodingKeys: String, CodingKey {
            case id, uuid, object
            case firstName = "first_name"
            case lastName = "last_name"
            case name, email
            case meContact = "me_contact"
            case timezone, currency, locale
            case isPolicyCompliant = "is_policy_compliant"
            case account
            case createdAt = "created_at"
            case updatedAt = "updated_at"
        }

        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            id = try fields.id(.id)
            uuid = try fields.text(.uuid) ?? ""
            firstName = try fields.text(.firstName) ?? ""
            lastName = try fields.text(.lastName) ?? ""
            name = try fields.text(.name) ?? Names.complete(firstName, lastName)
            email = try fields.text(.email) ?? ""
            meContact = try fields.value(.meContact)
            timezone = try fields.text(.timezone) ?? "UTC"
            currency = try fields.value(.currency) ?? Currency(id: 0, iso: "", name: "", symbol: "")
            locale = try fields.text(.locale) ?? ""
            isPolicyCompliant = try fields.truth(.isPolicyCompliant) ?? true
            account = try fields.value(.account) ?? AccountReference(id: 0)
            createdAt = try fields.time(.createdAt) ?? Timestamp(milliseconds: 0)
            updatedAt = try fields.time(.updatedAt) ?? createdAt
        }
    }

    public struct Currency: Codable, Hashable, Sendable, Identifiable {
        public var id: Int
        public private(set) var object = "currency"
        public var iso: String
        public var name: String
        public var symbol: String

        public init(id: Int, iso: String, name: String, symbol: String) {
            self.id = id
            self.iso = iso
            self.name = name
            self.symbol = symbol
        }

        enum CodingKeys: String, CodingKey { case id, object, iso, name, symbol }

        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            id = try fields.id(.id)
            iso = try fields.text(.iso) ?? ""
            name = try fields.text(.name) ?? ""
            symbol = try fields.text(.symbol) ?? ""
        }
    }

    /// `GET /genders`: what a contact's ``Contact/genderID`` may be.
    public struct ListGenders: Endpoint {
        public static let route = Route.get("/genders")
        public typealias Output = APIResponse<[Gender]>

        public init() {}
    }

    public struct Gender: Codable, Hashable, Sendable, Identifiable {
        public var id: Int
        public private(set) var object = "gender"
        public var name: String
        /// `M`, `F` or `O`.
        @OrNull public var type: String?
        public var account: AccountReference
        public var createdAt: Timestamp
        public var updatedAt: Timestamp

        public init(id: Int, name: String, type: String?, account: Int, createdAt: Timestamp, updatedAt: Timestamp) {
            self.id = id
            self.name = name
            self.type = type
            self.account = AccountReference(id: account)
            self.createdAt = createdAt
            self.updatedAt = updatedAt
        }

        enum CodingKeys: String, CodingKey {
            case id, object, name, type, account
            case createdAt = "created_at"
            case updatedAt = "updated_at"
        }

        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            id = try fields.id(.id)
            name = try fields.text(.name) ?? ""
            type = try fields.text(.type)
            account = try fields.value(.account) ?? AccountReference(id: 0)
            createdAt = try fields.time(.createdAt) ?? Timestamp(milliseconds: 0)
            updatedAt = try fields.time(.updatedAt) ?? createdAt
        }
    }

    /// `GET /activitytypes`: what an activity's ``Activity/activityTypeID`` may be.
    public struct ListActivityTypes: Endpoint {
        public static let route = Route.get("/activitytypes")
        public typealias Output = APIResponse<[ActivityType]>

        public init() {}
    }

    /// `GET /export/json`: everything of the account, as an attachment.
    public struct ExportJSON: Endpoint {
        public static let route = Route.get("/export/json")
        public typealias Output = Export

        public init() {}
    }

    /// An account as it is taken elsewhere.
    public struct Export: Codable, Hashable, Sendable {
        public var version: Int
        public var exportedAt: Timestamp
        public var user: User
        public var genders: [Gender]
        public var activityTypes: [ActivityType]
        public var tags: [Tag]
        /// Partial ones too.
        public var contacts: [ExportedContact]
        public var activities: [Activity]
        public var notes: [Note]
        public var tasks: [Task]
        public var gifts: [Gift]

        package init(
            exportedAt: Timestamp, user: User, genders: [Gender], activityTypes: [ActivityType], tags: [Tag],
            contacts: [ExportedContact], activities: [Activity], notes: [Note], tasks: [Task], gifts: [Gift]
        ) {
            version = 1
            self.exportedAt = exportedAt
            self.user = user
            self.genders = genders
            self.activityTypes = activityTypes
            self.tags = tags
            self.contacts = contacts
            self.activities = activities
            self.notes = notes
            self.tasks = tasks
            self.gifts = gifts
        }

        enum CodingKeys: String, CodingKey {
            case version
            case exportedAt = "exported_at"
            case user, genders
            case activityTypes = "activity_types"
            case tags, contacts, activities, notes, tasks, gifts
        }
    }

    /// A contact in an export.
    public struct ExportedContact: Codable, Hashable, Sendable {
        public var contact: Contact
        public var middleName: String? { contact.middleName }

        public init(_ contact: Contact) { self.contact = contact }
        public init(from decoder: any Decoder) throws { contact = try Contact(from: decoder) }
        public func encode(to encoder: any Encoder) throws { try contact.encode(to: encoder) }
    }

    /// `GET /export/vcard`: every contact that is not partial, as vCard 4.0 (RFC 6350).
    public struct ExportVCard: Endpoint {
        public static let route = Route.get("/export/vcard")
        public typealias Output = VCards

        public init() {}
    }

    /// Text of the type `text/vcard`.
    public struct VCards: RawRepresentable, Codable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
    }
}
