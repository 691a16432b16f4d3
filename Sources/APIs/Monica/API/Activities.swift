import Contract

extension Monica {
    static let activities: [any Contract.Endpoint.Type] = [
        List<Activity>.self, ListOfContact<Activity>.self, Get<Activity>.self, Create<Activity>.self,
        Update<Activity>.self, Delete<Activity>.self,
    ]

    public enum ActivityOrder: String, Order {
        case happenedAt = "happened_at"
        case createdAt = "created_at"
        case updatedAt = "updated_at"
    }

    /// Something done together, on a day.
    public struct Activity: Listed, Writable, Identifiable {
        public typealias By = ActivityOrder
        public typealias Draft = ActivityDraft
        public static let plural = "activities"
        public static let singular = "activity"
        public static let createdStatus = HTTPStatus.created

        public var id: Int
        public var uuid: String
        public private(set) var object = "activity"
        @OrNull public var activityTypeID: Int?
        public var summary: String
        @OrNull public var description: String?
        public var happenedAt: Day
        @OrNull public var activityType: ActivityType?
        public var attendees: Attendees
        /// The same as the attendees.
        public var contacts: [ShortContact]
        public var emotions: [JSONValue]
        public var url: String
        public var account: AccountReference
        public var createdAt: Timestamp
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
            emotions = []
            self.url = url
            self.account = AccountReference(id: account)
            self.createdAt = createdAt
            self.updatedAt = updatedAt
        }

        public func isOf(_ contact: Int) -> Bool { contacts.contains { $0.id == contact } }

        enum CodingKeys: String, CodingKey {
            case id, uuid, object
            case activityTypeID = "activity_type_id"
            case summary, description
            case happenedAt = "happened_at"
            case activityType = "activity_type"
            case attendees, contacts, emotions, url, account
            case createdAt = "created_at"
            case updatedAt = "updated_at"
        }

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

    public struct Attendees: Codable, Hashable, Sendable {
        public var total: Int
        public var contacts: [ShortContact]

        public init(contacts: [ShortContact]) {
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

    public struct ActivityType: Codable, Hashable, Sendable, Identifiable {
        public var id: Int
        public var uuid: String
        public private(set) var object = "activityType"
        public var name: String
        @OrNull public var locationType: String?
        @OrNull public var activityTypeCategory: ActivityTypeCategory?
        public var account: AccountReference
        public var createdAt: Timestamp
        public var updatedAt: Timestamp

        public init(
            id: Int, uuid: String, name: String, locationType: String?, category: ActivityTypeCategory?, account: Int,
            createdAt: Timestamp, updatedAt: Timestamp
        ) {
            self.id = id
            self.uuid = uuid
            self.name = name
            self.locationType = locationType
            activityTypeCategory = category
            self.account = AccountReference(id: account)
            self.createdAt = createdAt
            self.updatedAt = updatedAt
        }

        enum CodingKeys: String, CodingKey {
            case id, uuid, object, name
            case locationType = "location_type"
            case activityTypeCategory = "activity_type_category"
            case account
            case createdAt = "created_at"
            case updatedAt = "updated_at"
        }

        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            id = try fields.id(.id)
            uuid = try fields.text(.uuid) ?? ""
            name = try fields.text(.name) ?? ""
            locationType = try fields.text(.locationType)
            activityTypeCategory = try fields.value(.activityTypeCategory)
            account = try fields.value(.account) ?? AccountReference(id: 0)
            createdAt = try fields.time(.createdAt) ?? Timestamp(milliseconds: 0)
            updatedAt = try fields.time(.updatedAt) ?? createdAt
        }
    }

    public struct ActivityTypeCategory: Codable, Hashable, Sendable, Identifiable {
        public var id: Int
        public var uuid: String
        public private(set) var object = "activityTypeCategory"
        public var name: String
        public var account: AccountReference
        public var createdAt: Timestamp
        public var updatedAt: Timestamp

        public init(id: Int, uuid: String, name: String, account: Int, createdAt: Timestamp, updatedAt: Timestamp) {
            self.id = id
            self.uuid = uuid
            self.name = name
            self.account = AccountReference(id: account)
            self.createdAt = createdAt
            self.updatedAt = updatedAt
        }

        enum CodingKeys: String, CodingKey {
            case id, uuid, object, name, account
            case createdAt = "created_at"
            case updatedAt = "updated_at"
        }

        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            id = try fields.id(.id)
            uuid = try fields.text(.uuid) ?? ""
            name = try fields.text(.name) ?? ""
            account = try fields.value(.account) ?? AccountReference(id: 0)
            createdAt = try fields.time(.createdAt) ?? Timestamp(milliseconds: 0)
            updatedAt = try fields.time(.updatedAt) ?? createdAt
        }
    }

    public struct ActivityDraft: Draft, Hashable {
        public typealias Item = Activity

        /// At most 255 characters.
        public var summary: String
        /// At most 100,000 characters.
        public var description: String?
        public var happenedAt: Day
        /// One or more.
        public var contacts: [Int]
        /// One of ``ListActivityTypes``.
        public var activityTypeID: Int?

        public init(
            summary: String, description: String? = nil, happenedAt: Day, contacts: [Int], activityTypeID: Int? = nil
        ) {
            self.summary = summary
            self.description = description
            self.happenedAt = happenedAt
            self.contacts = contacts
            self.activityTypeID = activityTypeID
        }

        public var form: Form {
            Form([
                "summary": .string(summary), "description": .orNull(description),
                "happened_at": .string(happenedAt.description),
                "contacts": .list(contacts.map { .integer(Int64($0)) }), "activity_type_id": .orNull(activityTypeID),
            ])
        }
    }
}
