import Contract

extension Monica {
    /// A contact of the account's owner.
    ///
    /// Servers differ in how much they tell about one. What a server does not tell is nil, empty or false here.
    public struct Contact: Writable, WrittenByMembers, Identifiable {
        public typealias Draft = ContactDraft
        public static let plural = "contacts"
        public static let singular = "contact"
        public static let fieldRules = contactRules
        public static let newFieldRules = newContactRules
        public static let createdStatus = HTTPStatus.created

        /// The contact's id.
        public var id: Int
        /// A UUID, which the contract publishes beside the id.
        public var uuid: String
        /// The type of the object on the wire.
        public private(set) var object = "contact"
        /// An opaque id: `h:` and 18 characters. It never changes.
        public var hashID: String = ""
        /// The first name.
        public var firstName: String
        /// The middle name. This project's server sends it; others have it only in ``completeName``.
        @OrNull public var middleName: String? = nil
        /// The last name.
        @OrNull public var lastName: String?
        /// The nickname.
        @OrNull public var nickname: String?
        /// The names with spaces between them.
        public var completeName: String
        /// The initials of the names.
        public var initials: String
        /// The owner's text about the contact; nil when there is none.
        @OrNull public var description: String? = nil
        /// The gender's id, one of ``ListGenders``.
        @OrNull public var genderID: Int? = nil
        /// The gender's name.
        @OrNull public var gender: String? = nil
        /// The gender's type: `M`, `F` or `O`.
        @OrNull public var genderType: String? = nil
        /// Whether the contact is marked as a favourite.
        public var isStarred: Bool = false
        /// Whether the contact is known only through another contact. Lists leave such contacts out.
        public var isPartial: Bool = false
        /// Whether the contact is active, which is the opposite of archived.
        public var isActive: Bool = true
        /// Whether the contact has died.
        public var isDead: Bool = false
        /// Whether the contact is the owner of the account.
        public var isMe: Bool = false
        /// The time of the last call; nil when there was none.
        @OrNull public var lastCalled: Timestamp? = nil
        /// The time of the last activity with the contact; nil when there was none.
        @OrNull public var lastActivityTogether: Timestamp? = nil
        /// The number of days between two reminders to stay in touch; nil when there are none.
        @OrNull public var stayInTouchFrequency: Int? = nil
        /// The time of the next reminder; nil when there is none.
        @OrNull public var stayInTouchTriggerDate: Timestamp? = nil
        /// Further information about the contact.
        public var information: ContactInformation = ContactInformation()
        /// The postal addresses.
        public var addresses: [Address] = []
        /// The tags, by name.
        public var tags: [Tag] = []
        /// The numbers of things that belong to the contact.
        public var statistics: ContactStatistics = ContactStatistics()
        /// The ways to reach the contact; nil unless they were asked for (``Inclusion/contactFields``).
        public var contactFields: [ContactField]?
        /// The three newest notes; nil unless they were asked for.
        public var notes: [Note]?
        /// The URL of the resource in the API.
        public var url: String = ""
        /// The account that it belongs to.
        public var account: AccountReference
        /// The time of creation.
        public var createdAt: Timestamp
        /// The time of the last change.
        public var updatedAt: Timestamp

        public init(
            id: Int, uuid: String = "", firstName: String, lastName: String? = nil, nickname: String? = nil,
            account: Int = 1, createdAt: Timestamp, updatedAt: Timestamp
        ) {
            self.init(
                id: id, uuid: uuid, firstName: firstName, lastName: lastName, nickname: nickname,
                completeName: Names.complete(firstName, lastName), account: account, createdAt: createdAt,
                updatedAt: updatedAt)
        }

        /// Makes a contact whose complete name is known.
        package init(
            id: Int, uuid: String, firstName: String, lastName: String?, nickname: String?, completeName: String,
            account: Int, createdAt: Timestamp, updatedAt: Timestamp
        ) {
            self.id = id
            self.uuid = uuid
            self.firstName = firstName
            self.lastName = lastName
            self.nickname = nickname
            self.completeName = completeName
            initials = Names.initials(of: completeName)
            self.account = AccountReference(id: account)
            self.createdAt = createdAt
            self.updatedAt = updatedAt
        }

        private enum WireNames: String { case contactFields = "contactFields" }

        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            id = try fields.id(.id)
            uuid = try fields.text(.uuid) ?? ""
            hashID = try fields.text(.hashID) ?? ""
            let (first, last) = (try fields.text(.firstName) ?? "", try fields.text(.lastName))
            firstName = first
            let middle = try fields.text(.middleName)
            middleName = middle
            lastName = last
            nickname = try fields.text(.nickname)
            completeName = try fields.text(.completeName) ?? Names.complete(first, middle, last)
            initials = try fields.text(.initials) ?? Names.initials(of: completeName)
            description = try fields.text(.description)
            genderID = try fields.integer(.genderID)
            gender = try fields.text(.gender)
            genderType = try fields.text(.genderType)
            isStarred = try fields.truth(.isStarred) ?? false
            isPartial = try fields.truth(.isPartial) ?? false
            isActive = try fields.truth(.isActive) ?? true
            isDead = try fields.truth(.isDead) ?? false
            isMe = try fields.truth(.isMe) ?? false
            lastCalled = try fields.time(.lastCalled)
            lastActivityTogether = try fields.time(.lastActivityTogether)
            stayInTouchFrequency = try fields.integer(.stayInTouchFrequency)
            stayInTouchTriggerDate = try fields.time(.stayInTouchTriggerDate)
            information = try fields.value(.information) ?? ContactInformation()
            addresses = try fields.list(.addresses)
            tags = try fields.list(.tags)
            statistics = try fields.value(.statistics) ?? ContactStatistics()
            contactFields = try fields.decodeIfPresent([ContactField].self, forKey: .contactFields)
            notes = try fields.decodeIfPresent([Note].self, forKey: .notes)
            url = try fields.text(.url) ?? ""
            account = try fields.value(.account) ?? AccountReference(id: 0)
            // A partial contact of some servers has neither time.
            createdAt = try fields.time(.createdAt) ?? Timestamp(milliseconds: 0)
            updatedAt = try fields.time(.updatedAt) ?? createdAt
        }
    }

    /// A contact as other resources show it: in a note, among an activity's attendees.
    public struct ShortContact: Codable, WrittenByMembers, Hashable, Sendable, Identifiable {
        /// The contact's id.
        public var id: Int
        /// A UUID, which the contract publishes beside the id.
        public var uuid: String
        /// The type of the object on the wire.
        public private(set) var object = "contact"
        /// An opaque id: `h:` and 18 characters. It never changes.
        public var hashID: String
        /// The first name.
        public var firstName: String
        /// The last name.
        @OrNull public var lastName: String?
        /// The nickname.
        @OrNull public var nickname: String?
        /// The names with spaces between them.
        public var completeName: String
        /// The initials of the names.
        public var initials: String
        /// The gender's id, one of ``ListGenders``.
        @OrNull public var genderID: Int?
        /// The gender's name.
        @OrNull public var gender: String?
        /// The gender's type: `M`, `F` or `O`.
        @OrNull public var genderType: String?
        /// Whether the contact is marked as a favourite.
        public var isStarred: Bool
        /// Whether the contact is known only through another contact.
        public var isPartial: Bool
        /// Whether the contact is active, which is the opposite of archived.
        public var isActive: Bool
        /// Whether the contact has died.
        public var isDead: Bool
        /// Whether the contact is the owner of the account.
        public var isMe: Bool
        /// Further information about the contact.
        public var information: ShortInformation
        /// The URL of the resource in the API.
        public var url: String
        /// The account that it belongs to.
        public var account: AccountReference

        /// Makes the short form of a contact.
        public init(_ contact: Contact) {
            id = contact.id
            uuid = contact.uuid
            hashID = contact.hashID
            firstName = contact.firstName
            lastName = contact.lastName
            nickname = contact.nickname
            completeName = contact.completeName
            initials = contact.initials
            genderID = contact.genderID
            gender = contact.gender
            genderType = contact.genderType
            isStarred = contact.isStarred
            isPartial = contact.isPartial
            isActive = contact.isActive
            isDead = contact.isDead
            isMe = contact.isMe
            information = ShortInformation(
                birthdate: contact.information.dates.birthdate, deceasedDate: contact.information.dates.deceasedDate,
                avatar: contact.information.avatar)
            (url, account) = (contact.url, contact.account)
        }

        public init(from decoder: any Decoder) throws {
            self.init(try Contact(from: decoder))
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            information = try fields.value(.information) ?? ShortInformation()
        }
    }

    /// The information in the short form of a contact.
    public struct ShortInformation: Codable, ReadByMembers, WrittenByMembers, Hashable, Sendable {
        /// The date of birth.
        public var birthdate: SpecialDate = .init()
        /// The date of death.
        public var deceasedDate: SpecialDate = .init()
        /// The picture.
        public var avatar: Avatar = .init()
        private init(derived: Never) { switch derived {} }
    }
}
