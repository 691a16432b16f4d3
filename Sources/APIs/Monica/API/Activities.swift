import Contract

extension Monica {
    static let activities = Section(
        "Activities",
        [
            List<Activity>.self, ListOfContact<Activity>.self, Get<Activity>.self, Create<Activity>.self,
            Update<Activity>.self, Delete<Activity>.self,
        ])

    /// The orders of a list of activities.
    public enum ActivityOrder: String, Order {
        case happenedAt = "happened_at"
        case createdAt = "created_at"
        case updatedAt = "updated_at"
    }

    /// An activity with contacts, on a day.
    public struct Activity: Listed, Writable, Identifiable {
        public typealias By = ActivityOrder
        public typealias Draft = ActivityDraft
        public static let plural = "activities"
        public static let singular = "activity"
        public static let fieldRules = activityRules
        public static let createdStatus = HTTPStatus.created

        /// The activity's id.
        public var id: Int
        /// A UUID, which the contract publishes beside the id.
        public var uuid: String
        /// The type of the object on the wire.
        public private(set) var object = "activity"
        /// The type, one of ``ListActivityTypes``; nil when there is none.
        @OrNull public var activityTypeID: Int?
        /// A short text.
        public var summary: String
        /// A longer text; nil when there is none.
        @OrNull public var description: String?
        /// The day of the activity.
        public var happenedAt: Day
        /// The type; nil when there is none.
        @OrNull public var activityType: ActivityType?
        /// The contacts who took part.
        public var attendees: Attendees
        /// The same contacts as the attendees.
        public var contacts: [ShortContact]
        /// The contract's list of emotions; this project's server keeps none.
        public var emotions: [JSONValue] = []
        /// The URL of the resource in the API.
        public var url: String
        /// The account that it belongs to.
        public var account: AccountReference
        /// The time of creation.
        public var createdAt: Timestamp
        /// The time of the last change.
        public var updatedAt: Timestamp

        public init(
            id: Int, uuid: String = "", summary: String, description: String? = nil, happenedAt: Day,
            activityType: ActivityType? = nil, contacts: [ShortContact] = [], url: String = "", account: Int = 1,
            createdAt: Timestamp, updatedAt: Timestamp
        ) {
            self.id = id
            self.uuid = uuid
            activityTypeID = activityType?.id
            self.summary = summary
            self.description = description
            self.happenedAt = happenedAt
            self.activityType = activityType
            attendees = Attendees(contacts: contacts)
            self.contacts = contacts
            self.url = url
            self.account = AccountReference(id: account)
            self.createdAt = createdAt
            self.updatedAt = updatedAt
        }

        public func isOf(_ contact: Int) -> Bool { contacts.contains { $0.id == contact } }

        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            id = try fields.id(.id)
            uuid = try fields.text(.uuid) ?? ""
            summary = try fields.text(.summary) ?? ""
            description = try fields.text(.description)
            let type: ActivityType? = try fields.value(.activityType)
            activityType = type
            activityTypeID = try fields.integer(.activityTypeID) ?? type?.id
            let attendees: Attendees? = try fields.value(.attendees)
            let contacts: [ShortContact]? = try fields.decodeIfPresent([ShortContact].self, forKey: .contacts)
            self.attendees = attendees ?? Attendees(contacts: contacts ?? [])
            self.contacts = contacts ?? attendees?.contacts ?? []
            emotions = try fields.list(.emotions)
            url = try fields.text(.url) ?? ""
            account = try fields.value(.account) ?? AccountReference(id: 0)
            createdAt = try fields.time(.createdAt) ?? Timestamp(milliseconds: 0)
            updatedAt = try fields.time(.updatedAt) ?? createdAt
            happenedAt = try fields.day(.happenedAt) ?? createdAt.day
        }
    }

    /// The contacts who took part in an activity.
    public struct Attendees: Codable, Hashable, Sendable {
        /// The number of contacts.
        public var total: Int
        /// The contacts.
        public var contacts: [ShortContact]

        public init(contacts: [ShortContact]) {
            total = contacts.count
            self.contacts = contacts
        }

        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            contacts = try fields.list(.contacts)
            total = try fields.integer(.total) ?? contacts.count
        }
    }

    /// The fields of a new or changed activity.
    public struct ActivityDraft: Draft, Hashable {
        public typealias Item = Activity

        /// The short text: at most 255 characters.
        public var summary: String
        /// The longer text: at most 100,000 characters.
        public var description: String? = nil
        /// The day of the activity.
        public var happenedAt: Day
        /// The contacts who took part: one or more.
        public var contacts: [Int]
        /// The type, one of ``ListActivityTypes``.
        public var activityTypeID: Int? = nil
        private init(derived: Never) { switch derived {} }

        public var form: Form {
            Form([
                "summary": .string(summary), "description": .orNull(description),
                "happened_at": .string(happenedAt.description),
                "contacts": .list(contacts.map { .integer(Int64($0)) }), "activity_type_id": .orNull(activityTypeID),
            ])
        }
    }
}
