import Contract

extension Monica {
    /// A contact of the account's owner.
    ///
    /// Servers differ in how much they tell about one. What a server does not tell is nil, empty or false here.
    public struct Contact: Writable, Identifiable {
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
        public var hashID: String
        /// The first name.
        public var firstName: String
        /// The middle name. This project's server sends it; others have it only in ``completeName``.
        @OrNull public var middleName: String?
        /// The last name.
        @OrNull public var lastName: String?
        /// The nickname.
        @OrNull public var nickname: String?
        /// The names with spaces between them.
        public var completeName: String
        /// The initials of the names.
        public var initials: String
        /// The owner's text about the contact; nil when there is none.
        @OrNull public var description: String?
        /// The gender's id, one of ``ListGenders``.
        @OrNull public var genderID: Int?
        /// The gender's name.
        @OrNull public var gender: String?
        /// The gender's type: `M`, `F` or `O`.
        @OrNull public var genderType: String?
        /// Whether the contact is marked as a favourite.
        public var isStarred: Bool
        /// Whether the contact is known only through another contact. Lists leave such contacts out.
        public var isPartial: Bool
        /// Whether the contact is active, which is the opposite of archived.
        public var isActive: Bool
        /// Whether the contact has died.
        public var isDead: Bool
        /// Whether the contact is the owner of the account.
        public var isMe: Bool
        /// The time of the last call; nil when there was none.
        @OrNull public var lastCalled: Timestamp?
        /// The time of the last activity with the contact; nil when there was none.
        @OrNull public var lastActivityTogether: Timestamp?
        /// The number of days between two reminders to stay in touch; nil when there are none.
        @OrNull public var stayInTouchFrequency: Int?
        /// The time of the next reminder; nil when there is none.
        @OrNull public var stayInTouchTriggerDate: Timestamp?
        /// Further information about the contact.
        public var information: ContactInformation
        /// The postal addresses.
        public var addresses: [Address]
        /// The tags, by name.
        public var tags: [Tag]
        /// The numbers of things that belong to the contact.
        public var statistics: ContactStatistics
        /// The ways to reach the contact; nil unless they were asked for (``Inclusion/contactFields``).
        public var contactFields: [ContactField]?
        /// The three newest notes; nil unless they were asked for.
        public var notes: [Note]?
        /// The URL of the resource in the API.
        public var url: String
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
            hashID = ""
            self.firstName = firstName
            middleName = nil
            self.lastName = lastName
            self.nickname = nickname
            self.completeName = completeName
            initials = Names.initials(of: completeName)
            description = nil
            genderID = nil
            gender = nil
            genderType = nil
            isStarred = false
            isPartial = false
            isActive = true
            isDead = false
            isMe = false
            lastCalled = nil
            lastActivityTogether = nil
            stayInTouchFrequency = nil
            stayInTouchTriggerDate = nil
            information = ContactInformation()
            addresses = []
            tags = []
            statistics = ContactStatistics()
            url = ""
            self.account = AccountReference(id: account)
            self.createdAt = createdAt
            self.updatedAt = updatedAt
        }

        enum CodingKeys: String, CodingKey {
            case id, uuid, object
            case hashID = "hash_id"
            case firstName = "first_name"
            case middleName = "middle_name"
            case lastName = "last_name"
            case nickname
            case completeName = "complete_name"
            case initials, description
            case genderID = "gender_id"
            case gender
            case genderType = "gender_type"
            case isStarred = "is_starred"
            case isPartial = "is_partial"
            case isActive = "is_active"
            case isDead = "is_dead"
            case isMe = "is_me"
            case lastCalled = "last_called"
            case lastActivityTogether = "last_activity_together"
            case stayInTouchFrequency = "stay_in_touch_frequency"
            case stayInTouchTriggerDate = "stay_in_touch_trigger_date"
            case information, addresses, tags, statistics, contactFields, notes, url, account
            case createdAt = "created_at"
            case updatedAt = "updated_at"
        }

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
    public struct ShortContact: Codable, Hashable, Sendable, Identifiable {
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
            url = contact.url
            account = contact.account
        }

        enum CodingKeys: String, CodingKey {
            case id, uuid, object
            case hashID = "hash_id"
            case firstName = "first_name"
            case lastName = "last_name"
            case nickname
            case completeName = "complete_name"
            case initials
            case genderID = "gender_id"
            case gender
            case genderType = "gender_type"
            case isStarred = "is_starred"
            case isPartial = "is_partial"
            case isActive = "is_active"
            case isDead = "is_dead"
            case isMe = "is_me"
            case information, url, account
        }

        public init(from decoder: any Decoder) throws {
            self.init(try Contact(from: decoder))
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            information = try fields.value(.information) ?? ShortInformation()
        }
    }

    /// The information in the short form of a contact.
    public struct ShortInformation: Codable, Hashable, Sendable {
        /// The date of birth.
        public var birthdate: SpecialDate
        /// The date of death.
        public var deceasedDate: SpecialDate
        /// The picture.
        public var avatar: Avatar

        public init(
            birthdate: SpecialDate = .init(), deceasedDate: SpecialDate = .init(), avatar: Avatar = .init()
        ) {
            self.birthdate = birthdate
            self.deceasedDate = deceasedDate
            self.avatar = avatar
        }

        enum CodingKeys: String, CodingKey {
            case birthdate
            case deceasedDate = "deceased_date"
            case avatar
        }

        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            birthdate = try fields.value(.birthdate) ?? .init()
            deceasedDate = try fields.value(.deceasedDate) ?? .init()
            avatar = try fields.value(.avatar) ?? .init()
        }
    }
}
