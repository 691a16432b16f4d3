import Contract

extension Monica {
    /// Further information about a contact.
    public struct ContactInformation: Codable, ReadByMembers, WrittenByMembers, Hashable, Sendable {
        /// The relationships to other contacts.
        public var relationships = Relationships()
        /// The dates of birth and death.
        public var dates = ContactDates()
        /// The job.
        public var career = Career()
        /// The picture.
        public var avatar = Avatar()
        /// The food that the contact likes and may eat; nil when it is not known.
        @OrNull public var foodPreferences: String? = nil
        /// How the owner met the contact.
        public var howYouMet = HowYouMet()

        public init() {}
    }

    /// The relationships to other contacts, by kind.
    public struct Relationships: Codable, ReadByMembers, WrittenByMembers, Hashable, Sendable {
        /// Partners.
        public var love = Relations()
        /// Relatives.
        public var family = Relations()
        /// Friends.
        public var friend = Relations()
        /// Colleagues.
        public var work = Relations()

        public init() {}
    }

    /// The relationships of one kind.
    public struct Relations: Codable, WrittenByMembers, Hashable, Sendable {
        /// The number of relationships.
        public var total: Int
        /// The relationships.
        public var contacts: [Relation]

        public init(contacts: [Relation] = []) {
            total = contacts.count
            self.contacts = contacts
        }

        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            contacts = try fields.list(.contacts)
            total = try fields.integer(.total) ?? contacts.count
        }
    }

    /// A related contact and the relationship.
    public struct Relation: Codable, ReadByMembers, WrittenByMembers, Hashable, Sendable {
        /// The relationship, of which it has the id and the type's name.
        public var relationship: RelationshipReference
        /// The other contact.
        public var contact: ShortContact
        private init(derived: Never) { switch derived {} }
    }

    /// A relationship as a contact shows it.
    public struct RelationshipReference: Codable, ReadByMembers, WrittenByMembers, Hashable, Sendable {
        /// The id of the ``Relationship``.
        public var id: Int
        /// A UUID, which the contract publishes beside the id.
        public var uuid: String
        /// The word for what the contact is to the other one, such as `parent`.
        @OrNull public var name: String?
        private init(derived: Never) { switch derived {} }
    }

    /// The dates of birth and death.
    public struct ContactDates: Codable, ReadByMembers, WrittenByMembers, Hashable, Sendable {
        /// The date of birth.
        public var birthdate = SpecialDate()
        /// The date of death.
        public var deceasedDate = SpecialDate()

        public init() {}
    }

    /// A date that may be known in part. All fields are nil when nothing is known.
    public struct SpecialDate: Codable, ReadByMembers, WrittenByMembers, Hashable, Sendable {
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
    }

    /// A contact's job.
    public struct Career: Codable, ReadByMembers, WrittenByMembers, Hashable, Sendable {
        /// The job; nil when it is not known.
        @OrNull public var job: String? = nil
        /// The company; nil when it is not known.
        @OrNull public var company: String? = nil
        private init(derived: Never) { switch derived {} }
    }

    /// A contact's picture.
    public struct Avatar: Codable, ReadByMembers, WrittenByMembers, Hashable, Sendable {
        /// The URL of the picture, good for a day; nil for the initials on a colour. Do not store it.
        @OrNull public var url: String? = nil
        /// The kind of picture: `default` for the initials on a colour, `photo`, `gravatar` or `adorable`
        /// (``SetAvatar``).
        public var source: String = "default"
        /// The colour behind the initials, such as `#fdb660`.
        public var defaultAvatarColor: String = "#fdb660"
        private init(derived: Never) { switch derived {} }
    }

    /// How the owner met a contact.
    public struct HowYouMet: Codable, ReadByMembers, WrittenByMembers, Hashable, Sendable {
        /// The owner's text; nil when there is none.
        @OrNull public var generalInformation: String? = nil
        /// The date of the first meeting.
        public var firstMetDate = SpecialDate()
        /// The contact who introduced the two; nil when there is none.
        @OrNull public var firstMetThroughContact: ShortContact? = nil

        public init() {}
    }

    /// The numbers of things that belong to a contact.
    public struct ContactStatistics: Codable, ReadByMembers, WrittenByMembers, Hashable, Sendable {
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
    }
}
