import Contract

extension Monica {
    /// Further information about a contact.
    public struct ContactInformation: Codable, Hashable, Sendable {
        /// The relationships to other contacts.
        public var relationships = Relationships()
        /// The dates of birth and death.
        public var dates = ContactDates()
        /// The job.
        public var career = Career()
        /// The picture.
        public var avatar = Avatar()
        /// The food that the contact likes and may eat; nil when it is not known.
        @OrNull public var foodPreferences: String?
        /// How the owner met the contact.
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

    /// The relationships to other contacts, by kind.
    public struct Relationships: Codable, Hashable, Sendable {
        /// Partners.
        public var love = Relations()
        /// Relatives.
        public var family = Relations()
        /// Friends.
        public var friend = Relations()
        /// Colleagues.
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

    /// The relationships of one kind.
    public struct Relations: Codable, Hashable, Sendable {
        /// The number of relationships.
        public var total: Int
        /// The relationships.
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

    /// A related contact and the relationship. This project's server keeps none; others do.
    public struct Relation: Codable, Hashable, Sendable {
        /// The relationship, such as `partner`.
        @OrNull public var name: String?
        /// The other contact; nil when the server does not name one.
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

    /// The dates of birth and death.
    public struct ContactDates: Codable, Hashable, Sendable {
        /// The date of birth.
        public var birthdate = SpecialDate()
        /// The date of death.
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

    /// A date that may be known in part. All fields are nil when nothing is known.
    public struct SpecialDate: Codable, Hashable, Sendable {
        /// Whether the date was computed from an age: only its year is known.
        @OrNull public var isAgeBased: Bool?
        /// Whether only the day and the month are known.
        @OrNull public var isYearUnknown: Bool?
        /// The beginning of the day in UTC.
        @OrNull public var date: Timestamp?

        public init() {
            isAgeBased = nil
            isYearUnknown = nil
            date = nil
        }

        /// Creates a date.
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

    /// A contact's job.
    public struct Career: Codable, Hashable, Sendable {
        /// The job; nil when it is not known.
        @OrNull public var job: String?
        /// The company; nil when it is not known.
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

    /// A contact's picture.
    public struct Avatar: Codable, Hashable, Sendable {
        /// The URL of the picture; nil for the initials on a colour.
        @OrNull public var url: String?
        /// The kind of picture: `default` for the initials on a colour.
        public var source: String
        /// The colour behind the initials, such as `#fdb660`.
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

    /// How the owner met a contact.
    public struct HowYouMet: Codable, Hashable, Sendable {
        /// The owner's text; nil when there is none.
        @OrNull public var generalInformation: String?
        /// The date of the first meeting.
        public var firstMetDate = SpecialDate()
        /// The contact who introduced the two; nil when there is none.
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

    /// The numbers of things that belong to a contact.
    public struct ContactStatistics: Codable, Hashable, Sendable {
        /// The number of calls.
        public var numberOfCalls = 0
        /// The number of notes.
        public var numberOfNotes = 0
        /// The number of activities.
        public var numberOfActivities = 0
        /// The number of reminders.
        public var numberOfReminders = 0
        /// The number of tasks.
        public var numberOfTasks = 0
        /// The number of gifts.
        public var numberOfGifts = 0
        /// The number of debts.
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
