import Contract

extension Monica {
    /// Somebody whom the account's owner knows.
    ///
    /// Servers differ in how much they say of one; what is not said is nil, empty or false here.
    public struct Contact: Writable, Identifiable {
        public typealias Draft = ContactDraft
        public static let plural = "contacts"
        public static let singular = "contact"
        public static let createdStatus = HTTPStatus.created

        public var id: Int
        public var uuid: String
        public private(set) var object = "contact"
        /// `h:` and 18 characters; stays as long as the contact does.
        public var hashID: String
        public var firstName: String
        /// This project's server says it; others have it in ``completeName`` alone.
        @OrNull public var middleName: String?
        @OrNull public var lastName: String?
        @OrNull public var nickname: String?
        /// The names with spaces between them.
        public var completeName: String
        public var initials: String
        @OrNull public var description: String?
        @OrNull public var genderID: Int?
        @OrNull public var gender: String?
        /// `M`, `F` or `O`.
        @OrNull public var genderType: String?
        public var isStarred: Bool
        /// Known through somebody else only: no list has them.
        public var isPartial: Bool
        public var isActive: Bool
        public var isDead: Bool
        public var isMe: Bool
        @OrNull public var lastCalled: Timestamp?
        @OrNull public var lastActivityTogether: Timestamp?
        @OrNull public var stayInTouchFrequency: Int?
        @OrNull public var stayInTouchTriggerDate: Timestamp?
        public var information: ContactInformation
        public var addresses: [Address]
        public var tags: [Tag]
        public var statistics: ContactStatistics
        /// Only when they were asked for (``Inclusion/contactFields``).
        public var contactFields: [ContactField]?
        /// The three newest, when they were asked for.
        public var notes: [Note]?
        public var url: String
        public var account: AccountReference
        public var createdAt: Timestamp
        public var updatedAt: Timestamp

        public init(
            id: Int, uuid: String = "", firstName: String, lastName: String? = nil, nickname: String? = nil,
            account: Int = 1, createdAt: Timestamp, updatedAt: Timestamp
        ) {
            self.id = id
            self.uuid = uuid
            hashID = ""
            self.firstName = firstName
            middleName = nil
            self.lastName = lastName
            self.nickname = nickname
            completeName = Names.complete(firstName, lastName)
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
            // A partial contact of some servers has neither.
            createdAt = try fields.time(.createdAt) ?? Timestamp(milliseconds: 0)
            updatedAt = try fields.time(.updatedAt) ?? createdAt
        }
    }

    /// A contact as others name it: somebody's note, an activity's attendee.
    public struct ShortContact: Codable, Hashable, Sendable, Identifiable {
        public var id: Int
        public var uuid: String
        public private(set) var object = "contact"
        public var hashID: String
        public var firstName: String
        @OrNull public var lastName: String?
        @OrNull public var nickname: String?
        public var completeName: String
        public var initials: String
        @OrNull public var genderID: Int?
        @OrNull public var gender: String?
        @OrNull public var genderType: String?
        public var isStarred: Bool
        public var isPartial: Bool
        public var isActive: Bool
        public var isDead: Bool
        public var isMe: Bool
        public var information: ShortInformation
        public var url: String
        public var account: AccountReference

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

    public struct ShortInformation: Codable, Hashable, Sendable {
        public var birthdate: SpecialDate
        public var deceasedDate: SpecialDate
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

    /// How names are put together.
    package enum Names {
        package static func complete(_ parts: String?...) -> String {
            parts.compactMap { $0?.isEmpty == false ? $0 : nil }.joined(separator: " ")
        }

        /// The first letter or digit of each word, letters in upper case.
        package static func initials(of name: String) -> String {
            asciiInitials(of: name)
                ?? name.split(whereSeparator: \.isWhitespace)
                .compactMap { word in word.first { $0.isLetter || $0.isNumber } }
                .map { letter in
                    let upper = letter.uppercased()
                    return upper.count == 1 ? upper : String(letter)
                }.joined()
        }

        /// The same without Unicode's tables, in a tenth of the time; nil for a name that needs them.
        private static func asciiInitials(of name: String) -> String? {
            var initials: [UInt8] = []
            var isWordDone = false
            for byte in name.utf8 {
                switch byte {
                case 0x80...: return nil
                case 0x09...0x0D, UInt8(ascii: " "): isWordDone = false
                case UInt8(ascii: "a")...UInt8(ascii: "z"):
                    if !isWordDone { initials.append(byte - 0x20) }
                    isWordDone = true
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                    if !isWordDone { initials.append(byte) }
                    isWordDone = true
                default: break
                }
            }
            return String(decoding: initials, as: UTF8.self)
        }
    }
}
