import Contract

extension Monica {
    static let account = Section(
        "Account",
        [
            GetWelcome.self, GetMe.self, DeleteMe.self, ExportJSON.self, ExportVCard.self, GetAbout<Monica>.self,
            RequestArchive.self, GetArchive.self,
        ])

    /// `GET /`: returns a greeting, by which a client recognises a server of this API.
    public struct GetWelcome: OpenEndpoint {
        public static let route = Route.get("/")
        public typealias Output = Welcome

        public init() {}
    }

    /// The greeting of a server.
    public struct Welcome: Codable, Hashable, Sendable {
        /// The part of an answer that stands for success.
        public struct Success: Codable, Hashable, Sendable {
            /// The greeting: "Welcome to Monica".
            public var message: String
            private init(derived: Never) { switch derived {} }
        }

        /// The greeting.
        public var success: Success

        public init(message: String = "Welcome to Monica") { success = Success(message: message) }
    }

    /// `GET /me`: returns the user to whom the token belongs.
    public struct GetMe: Endpoint {
        public static let route = Route.get("/me")
        public typealias Output = APIResponse<User>

        public init() {}
    }

    /// `DELETE /me`: deletes the account to which the token belongs, with all tokens and records. It cannot be undone.
    public struct DeleteMe: Endpoint {
        public static let route = Route.delete("/me")
        public typealias Output = Deletion

        public init() {}
    }

    /// The user to whom a token belongs.
    public struct User: Codable, Hashable, Sendable, Identifiable {
        /// The user's id.
        public var id: Int
        /// A UUID, which the contract publishes beside the id.
        public var uuid: String
        /// The type of the object on the wire.
        public private(set) var object = "user"
        /// The first name.
        public var firstName: String
        /// The last name.
        public var lastName: String
        /// The name.
        public var name: String
        /// The e-mail address.
        public var email: String
        /// The contact that stands for the user; nil when there is none.
        @OrNull public var meContact: ShortContact? = nil
        /// The time zone, an IANA name.
        public var timezone: String = "UTC"
        /// The currency of amounts.
        public var currency: Currency
        /// The language, such as `en`.
        public var locale: String = "en"
        /// Whether the user has accepted the server's terms.
        public var isPolicyCompliant: Bool = true
        /// The account that it belongs to.
        public var account: AccountReference
        /// The time of creation.
        public var createdAt: Timestamp
        /// The time of the last change.
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
            currency = Currency(id: 1, iso: "USD", name: "US Dollar", symbol: "$")
            account = AccountReference(id: id)
            self.createdAt = createdAt
            self.updatedAt = updatedAt
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

    /// `GET /export/json`: returns everything in the account, as an attachment.
    public struct ExportJSON: Endpoint {
        public static let route = Route.get("/export/json")
        public typealias Output = Export

        public init() {}
    }

    /// The data of an account, for use elsewhere.
    public struct Export: Codable, Hashable, Sendable {
        /// The version of the format.
        public var version: Int = 1
        /// The time of the export.
        public var exportedAt: Timestamp
        /// The owner of the account.
        public var user: User
        /// The genders.
        public var genders: [Gender]
        /// The types of activities.
        public var activityTypes: [ActivityType]
        /// The categories of types of activities; nil in exports of earlier versions.
        public var activityTypeCategories: [ActivityTypeCategory]?
        /// The types of contact fields; nil in exports of earlier versions.
        public var contactFieldTypes: [ContactFieldType]?
        /// The tags.
        public var tags: [Tag]
        /// The contacts, including partial ones.
        public var contacts: [ExportedContact]
        /// The relationships; nil in exports of earlier versions.
        public var relationships: [Relationship]?
        /// The activities.
        public var activities: [Activity]
        /// The notes.
        public var notes: [Note]
        /// The tasks.
        public var tasks: [Task]
        /// The gifts.
        public var gifts: [Gift]
        /// The calls; nil in exports of earlier versions.
        public var calls: [Call]?
        /// The conversations with their messages; nil in exports of earlier versions.
        public var conversations: [Conversation]?
        /// The reminders; nil in exports of earlier versions.
        public var reminders: [Reminder]?
        /// The debts; nil in exports of earlier versions.
        public var debts: [Debt]?
        /// The pets; nil in exports of earlier versions.
        public var pets: [Pet]?
        /// The life events; nil in exports of earlier versions.
        public var lifeEvents: [LifeEvent]?
        /// The photos; nil in exports of earlier versions.
        public var photos: [Photo]?
        /// The documents; nil in exports of earlier versions.
        public var documents: [Document]?
        /// The journal; nil in exports of earlier versions.
        public var journal: [JournalEntry]?

        package init(
            exportedAt: Timestamp, user: User, genders: [Gender], activityTypes: [ActivityType],
            activityTypeCategories: [ActivityTypeCategory], contactFieldTypes: [ContactFieldType], tags: [Tag],
            contacts: [ExportedContact],
            relationships: [Relationship], activities: [Activity], notes: [Note], tasks: [Task], gifts: [Gift],
            calls: [Call], conversations: [Conversation], reminders: [Reminder], debts: [Debt], pets: [Pet],
            lifeEvents: [LifeEvent], photos: [Photo], documents: [Document], journal: [JournalEntry]
        ) {
            self.exportedAt = exportedAt
            self.user = user
            self.genders = genders
            self.activityTypes = activityTypes
            self.activityTypeCategories = activityTypeCategories
            self.contactFieldTypes = contactFieldTypes
            self.tags = tags
            self.contacts = contacts
            self.relationships = relationships
            self.activities = activities
            self.notes = notes
            self.tasks = tasks
            self.gifts = gifts
            self.calls = calls
            self.conversations = conversations
            self.reminders = reminders
            self.debts = debts
            self.pets = pets
            self.lifeEvents = lifeEvents
            self.photos = photos
            self.documents = documents
            self.journal = journal
        }
    }

    /// A contact in an export.
    public struct ExportedContact: Codable, Hashable, Sendable {
        /// The contact.
        public var contact: Contact
        /// The middle name, which an answer about a contact may lack.
        public var middleName: String? { contact.middleName }

        private init(derived: Never, _ contact: Never) { switch derived {} }

        public init(from decoder: any Decoder) throws { contact = try Contact(from: decoder) }
        public func encode(to encoder: any Encoder) throws { try contact.encode(to: encoder) }
    }

    /// `GET /export/vcard`: returns every contact that is not partial, as vCard 4.0 (RFC 6350).
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
