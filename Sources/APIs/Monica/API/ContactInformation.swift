import Contract

extension Monica {
    public struct ContactInformation: Codable, Hashable, Sendable {
        public var relationships = Relationships()
        public var dates = ContactDates()
        public var career = Career()
        public var avatar = Avatar()
        @OrNull public var foodPreferences: String?
        public var howYouMet = HowYouMet()

        public init() { foodPreferences = nil }

        enum CodingKeys: String, CodingKey {
            case relationships, dates, career, avatar
            case foodPreferences = "food_preferences"
            case howYouMet = "how_you_met"
        }

        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            relationships = try fields.value(.relationships) ?? .init()
            dates = try fields.value(.dates) ?? .init()
            career = try fields.value(.career) ?? .init()
            avatar = try fields.value(.avatar) ?? .init()
            foodPreferences = try fields.text(.foodPreferences)
            howYouMet = try fields.value(.howYouMet) ?? .init()
        }
    }

    /// Who somebody is to others, by kind.
    public struct Relationships: Codable, Hashable, Sendable {
        public var love = Relations()
        public var family = Relations()
        public var friend = Relations()
        public var work = Relations()

        public init() {}

        enum CodingKeys: String, CodingKey { case love, family, friend, work }

        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            love = try fields.value(.love) ?? .init()
            family = try fields.value(.family) ?? .init()
            friend = try fields.value(.friend) ?? .init()
            work = try fields.value(.work) ?? .init()
        }
    }

    public struct Relations: Codable, Hashable, Sendable {
        public var total: Int
        public var contacts: [Relation]

        public init(contacts: [Relation] = []) {
            total = contacts.count
            self.contacts = contacts
        }

        enum CodingKeys: String, CodingKey { case total, contacts }

        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            contacts = try fields.list(.contacts)
            total = try fields.integer(.total) ?? contacts.count
        }
    }

    /// Somebody and what they are to the contact; other servers keep these.
    public struct Relation: Codable, Hashable, Sendable {
        /// Such as `partner`.
        @OrNull public var name: String?
        public var contact: ShortContact

        public init(name: String?, contact: ShortContact) {
            self.name = name
            self.contact = contact
        }

        enum CodingKeys: String, CodingKey { case relationship, contact }
        private enum RelationshipKeys: String, CodingKey { case id, uuid, name }

        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            name = try? fields.nestedContainer(keyedBy: RelationshipKeys.self, forKey: .relationship).text(.name)
            contact = try fields.decode(ShortContact.self, forKey: .contact)
        }

        public func encode(to encoder: any Encoder) throws {
            var fields = encoder.container(keyedBy: CodingKeys.self)
            var relationship = fields.nestedContainer(keyedBy: RelationshipKeys.self, forKey: .relationship)
            try relationship.encode(name, forKey: .name)
            try fields.encode(contact, forKey: .contact)
        }
    }

    public struct ContactDates: Codable, Hashable, Sendable {
        public var birthdate = SpecialDate()
        public var deceasedDate = SpecialDate()

        public init() {}

        enum CodingKeys: String, CodingKey {
            case birthdate
            case deceasedDate = "deceased_date"
        }

        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            birthdate = try fields.value(.birthdate) ?? .init()
            deceasedDate = try fields.value(.deceasedDate) ?? .init()
        }
    }

    /// A date that may be known in part only. All is nil when nothing is known.
    public struct SpecialDate: Codable, Hashable, Sendable {
        /// Made of an age: only the year means something.
        @OrNull public var isAgeBased: Bool?
        /// Only the day and the month mean something.
        @OrNull public var isYearUnknown: Bool?
        /// The day's beginning in UTC.
        @OrNull public var date: Timestamp?

        public init() {
            isAgeBased = nil
            isYearUnknown = nil
            date = nil
        }

        public init(_ day: Day, isAgeBased: Bool = false, isYearUnknown: Bool = false) {
            self.isAgeBased = isAgeBased
            self.isYearUnknown = isYearUnknown
            self.date = day.start
        }

        enum CodingKeys: String, CodingKey {
            case isAgeBased = "is_age_based"
            case isYearUnknown = "is_year_unknown"
            case date
        }

        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            isAgeBased = try fields.truth(.isAgeBased)
            isYearUnknown = try fields.truth(.isYearUnknown)
            date = try fields.time(.date)
        }
    }

    public struct Career: Codable, Hashable, Sendable {
        @OrNull public var job: String?
        @OrNull public var company: String?

        public init(job: String? = nil, company: String? = nil) {
            self.job = job
            self.company = company
        }

        enum CodingKeys: String, CodingKey { case job, company }

        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            job = try fields.text(.job)
            company = try fields.text(.company)
        }
    }

    public struct Avatar: Codable, Hashable, Sendable {
        @OrNull public var url: String?
        public var source: String
        /// `#fdb660`: what the initials stand on.
        public var defaultAvatarColor: String

        public init(url: String? = nil, source: String = "default", defaultAvatarColor: String = "#fdb660") {
            self.url = url
            self.source = source
            self.defaultAvatarColor = defaultAvatarColor
        }

        enum CodingKeys: String, CodingKey {
            case url, source
            case defaultAvatarColor = "default_avatar_color"
        }

        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            self.init(
                url: try fields.text(.url), source: try fields.text(.source) ?? "default",
                defaultAvatarColor: try fields.text(.defaultAvatarColor) ?? "#fdb660")
        }
    }

    public struct HowYouMet: Codable, Hashable, Sendable {
        @OrNull public var generalInformation: String?
        public var firstMetDate = SpecialDate()
        @OrNull public var firstMetThroughContact: ShortContact?

        public init() {
            generalInformation = nil
            firstMetThroughContact = nil
        }

        enum CodingKeys: String, CodingKey {
            case generalInformation = "general_information"
            case firstMetDate = "first_met_date"
            case firstMetThroughContact = "first_met_through_contact"
        }

        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            generalInformation = try fields.text(.generalInformation)
            firstMetDate = try fields.value(.firstMetDate) ?? .init()
            firstMetThroughContact = try fields.value(.firstMetThroughContact)
        }
    }

    public struct ContactStatistics: Codable, Hashable, Sendable {
        public var numberOfCalls = 0
        public var numberOfNotes = 0
        public var numberOfActivities = 0
        public var numberOfReminders = 0
        public var numberOfTasks = 0
        public var numberOfGifts = 0
        public var numberOfDebts = 0

        public init() {}

        enum CodingKeys: String, CodingKey {
            case numberOfCalls = "number_of_calls"
            case numberOfNotes = "number_of_notes"
            case numberOfActivities = "number_of_activities"
            case numberOfReminders = "number_of_reminders"
            case numberOfTasks = "number_of_tasks"
            case numberOfGifts = "number_of_gifts"
            case numberOfDebts = "number_of_debts"
        }

        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            numberOfCalls = try fields.integer(.numberOfCalls) ?? 0
            numberOfNotes = try fields.integer(.numberOfNotes) ?? 0
            numberOfActivities = try fields.integer(.numberOfActivities) ?? 0
            numberOfReminders = try fields.integer(.numberOfReminders) ?? 0
            numberOfTasks = try fields.integer(.numberOfTasks) ?? 0
            numberOfGifts = try fields.integer(.numberOfGifts) ?? 0
            numberOfDebts = try fields.integer(.numberOfDebts) ?? 0
        }
    }
}
