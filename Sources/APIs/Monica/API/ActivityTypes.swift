import Contract

extension Monica {
    static let activityTypes = Section(
        "Activity types",
        [
            ListActivityTypes.self, Get<ActivityType>.self, Create<ActivityType>.self, Update<ActivityType>.self,
            Delete<ActivityType>.self, ListActivityTypeCategories.self, Get<ActivityTypeCategory>.self,
            Create<ActivityTypeCategory>.self, Update<ActivityTypeCategory>.self, Delete<ActivityTypeCategory>.self,
        ])

    /// `GET /activitytypes`: returns the possible values of an activity's ``Activity/activityTypeID``.
    public struct ListActivityTypes: Endpoint {
        public static let route = Route.get("/activitytypes")
        public typealias Output = APIResponse<[ActivityType]>

        public init() {}
    }

    /// `GET /activitytypecategories`: returns all categories of types of activities, the oldest first.
    public struct ListActivityTypeCategories: Endpoint {
        public static let route = Route.get("/activitytypecategories")
        public typealias Output = APIResponse<[ActivityTypeCategory]>

        public init() {}
    }

    /// A type of activities.
    public struct ActivityType: Writable, ReadByMembers, Identifiable {
        public typealias Draft = ActivityTypeDraft
        public static let plural = "activitytypes"
        public static let singular = "activity type"
        public static let fieldRules = activityTypeRules
        public static let createdStatus = HTTPStatus.created
        /// The maximum number of types of an account.
        public static let maximumNumber = 1000

        /// The id of the type.
        public var id: Int
        /// A UUID, which the contract publishes beside the id.
        public var uuid: String
        /// The type of the object on the wire.
        public private(set) var object = "activityType"
        /// The name.
        public var name: String
        /// The kind of place; nil when there is none.
        @OrNull public var locationType: String?
        /// The category of the type; nil when there is none.
        @OrNull public var activityTypeCategory: ActivityTypeCategory?
        /// The account that it belongs to.
        public var account: AccountReference
        /// The time of creation.
        public var createdAt: Timestamp
        /// The time of the last change.
        public var updatedAt: Timestamp

        /// Creates a type of activities.
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
    }

    /// A category of types of activities.
    public struct ActivityTypeCategory: Writable, ReadByMembers, Identifiable {
        public typealias Draft = ActivityTypeCategoryDraft
        public static let plural = "activitytypecategories"
        public static let singular = "activity type category"
        public static let fieldRules = activityTypeCategoryRules
        public static let createdStatus = HTTPStatus.created
        /// The maximum number of categories of an account.
        public static let maximumNumber = 100

        /// The id of the category.
        public var id: Int
        /// A UUID, which the contract publishes beside the id.
        public var uuid: String
        /// The type of the object on the wire.
        public private(set) var object = "activityTypeCategory"
        /// The name.
        public var name: String
        /// The account that it belongs to.
        public var account: AccountReference
        /// The time of creation.
        public var createdAt: Timestamp
        /// The time of the last change.
        public var updatedAt: Timestamp

        public init(id: Int, uuid: String, name: String, account: Int, createdAt: Timestamp, updatedAt: Timestamp) {
            self.id = id
            self.uuid = uuid
            self.name = name
            self.account = AccountReference(id: account)
            self.createdAt = createdAt
            self.updatedAt = updatedAt
        }
    }

    /// The fields of a new or changed type of activities.
    public struct ActivityTypeDraft: Draft, Hashable {
        public typealias Item = ActivityType

        /// The name: at most 255 characters.
        public var name: String
        /// The id of the category, one of ``ListActivityTypeCategories``.
        public var categoryID: Int
        private init(derived: Never) { switch derived {} }

        public var form: Form {
            Form(["name": .string(name), "activity_type_category_id": .integer(Int64(categoryID))])
        }
    }

    /// The fields of a new or changed category of types of activities.
    public struct ActivityTypeCategoryDraft: Draft, Hashable {
        public typealias Item = ActivityTypeCategory

        /// The name: at most 255 characters.
        public var name: String
        private init(derived: Never) { switch derived {} }

        public var form: Form { Form(["name": .string(name)]) }
    }
}
