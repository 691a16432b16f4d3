import Contract

extension Monica {
    static let genders = Section(
        "Genders",
        [
            ListGenders.self, Get<Gender>.self, Create<Gender>.self, Update<Gender>.self, Delete<Gender>.self,
        ])

    /// `GET /genders`: returns the possible values of a contact's ``Contact/genderID``.
    public struct ListGenders: Endpoint {
        public static let route = Route.get("/genders")
        public typealias Output = APIResponse<[Gender]>

        public init() {}
    }

    /// A gender that contacts may have.
    public struct Gender: Writable, ReadByMembers, Identifiable {
        public typealias Draft = GenderDraft
        public static let plural = "genders"
        public static let singular = "gender"
        public static let fieldRules = genderRules
        public static let createdStatus = HTTPStatus.created
        /// The maximum number of genders of an account.
        public static let maximumNumber = 100

        /// The gender's id.
        public var id: Int
        /// The type of the object on the wire.
        public private(set) var object = "gender"
        /// The name.
        public var name: String
        /// The type: `M`, `F` or `O`.
        @OrNull public var type: String?
        /// The account that it belongs to.
        public var account: AccountReference
        /// The time of creation.
        public var createdAt: Timestamp
        /// The time of the last change.
        public var updatedAt: Timestamp

        public init(id: Int, name: String, type: String?, account: Int, createdAt: Timestamp, updatedAt: Timestamp) {
            self.id = id
            self.name = name
            self.type = type
            self.account = AccountReference(id: account)
            self.createdAt = createdAt
            self.updatedAt = updatedAt
        }
    }

    /// The type of a gender.
    public struct GenderType: OpenEnumeration {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// A male gender.
        public static let male = Self(rawValue: "M")
        /// A female gender.
        public static let female = Self(rawValue: "F")
        /// Another gender, or none that is said.
        public static let other = Self(rawValue: "O")
        public static let known = [male, female, other]
    }

    /// The fields of a new or changed gender.
    public struct GenderDraft: Draft, Hashable {
        public typealias Item = Gender

        /// The name: at most 255 characters.
        public var name: String
        /// The type.
        public var type: GenderType
        private init(derived: Never) { switch derived {} }

        public var form: Form { Form(["name": .string(name), "type": .string(type.rawValue)]) }
    }
}
