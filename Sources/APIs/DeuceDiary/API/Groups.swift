import Contract

extension DeuceDiary {
    static let groups: [any Contract.Endpoint.Type] = [CreateGroup.self, ListGroups.self, GetGroup.self]

    public struct Group: Codable, Hashable, Sendable, Identifiable {
        /// A UUID.
        public typealias ID = TextIdentifier<Group>

        public var id: ID
        public var name: String
        @OrNull public var description: String?
        public var createdBy: User.ID
        public var createdAt: Timestamp
        public var updatedAt: Timestamp

        public init(
            id: ID, name: String, description: String?, createdBy: User.ID, createdAt: Timestamp, updatedAt: Timestamp
        ) {
            self.id = id
            self.name = name
            self.description = description
            self.createdBy = createdBy
            self.createdAt = createdAt
            self.updatedAt = updatedAt
        }
    }

    /// `POST /api/groups`: makes a group, with the caller as its admin.
    public struct CreateGroup: Endpoint {
        public static let route = Route.post("/api/groups", idempotencyKey: true)
        public typealias Output = Group

        /// 1 to 100 characters after trimming.
        public var name: String
        /// At most 500 characters after trimming; blank means none.
        public var description: String?

        public init(name: String, description: String? = nil) {
            self.name = name
            self.description = description
        }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            name = try container.decode(String.self, forKey: .name)
            description = try container.decodeIfPresent(Description.self, forKey: .description)?.text
        }

        public func validate() throws(Problem) {
            guard 1...100 ~= name.trimmed.length else {
                throw Problem(.badRequest, "Invalid group data: name is required (max 100 chars)")
            }
            guard (description?.trimmed.length ?? 0) <= Description.maximum else {
                throw Problem(.badRequest, "Invalid group data: description must be 500 characters or less")
            }
        }

        enum CodingKeys: String, CodingKey { case name, description }

        /// Unlike other fields, a description that is no text is not the same as none.
        private struct Description: WireField {
            static let maximum = 500
            static let absent = Description(text: "")
            static let malformed: Description? = Description(text: String(repeating: "?", count: maximum + 1))

            let text: String
            var containsNUL: Bool { text.containsNUL }

            init(text: String) { self.text = text }
            init(from decoder: any Decoder) throws { text = try String(from: decoder) }
        }
    }

    /// `GET /api/groups`: the caller's groups, the one with the newest entry first, those without entries last.
    public struct ListGroups: Endpoint {
        public static let route = Route.get("/api/groups")
        public typealias Output = [GroupSummary]
        public static let maximum = 500

        /// 1 to 500, the most when absent. An addition to the contract.
        public var limit: Int?
        /// Only the groups that follow this one in the list now; 400 "Invalid cursor" for one that is not in it. An
        /// addition to the contract.
        public var before: Group.ID?

        public init(limit: Int? = nil, before: Group.ID? = nil) {
            self.limit = limit
            self.before = before
        }

        public func validate() throws(Problem) { try DeuceDiary.validate(limit: limit) }
    }

    /// A group in the list.
    public struct GroupSummary: Codable, Hashable, Sendable, Identifiable {
        public var id: Group.ID
        public var name: String
        @OrNull public var description: String?
        public var createdBy: User.ID
        public var createdAt: Timestamp
        public var updatedAt: Timestamp
        public var memberCount: Int
        public var entryCount: Int
        /// When the newest entry was made; nil when there is none.
        @OrNull public var lastActivity: Timestamp?

        public init(_ group: Group, memberCount: Int, entryCount: Int, lastActivity: Timestamp?) {
            id = group.id
            name = group.name
            description = group.description
            createdBy = group.createdBy
            createdAt = group.createdAt
            updatedAt = group.updatedAt
            self.memberCount = memberCount
            self.entryCount = entryCount
            self.lastActivity = lastActivity
        }
    }

    /// `GET /api/groups/{groupId}`: a group with its members and entries. 404 "Group not found", 403 "Not authorized".
    public struct GetGroup: Endpoint {
        public static let route = Route.get("/api/groups/{groupId}")
        public typealias Output = GroupDetail
        public static let maximum = 1000

        public var group: Group.ID
        /// Of the entries: 1 to 1,000, the most when absent. An addition to the contract.
        public var limit: Int?
        /// Only entries that follow this one in the list; 400 "Invalid cursor" for one that is not in it. An addition to
        /// the contract.
        public var before: DeuceEntry.ID?

        public init(group: Group.ID, limit: Int? = nil, before: DeuceEntry.ID? = nil) {
            self.group = group
            self.limit = limit
            self.before = before
        }

        public func validate() throws(Problem) { try DeuceDiary.validate(limit: limit) }

        enum CodingKeys: String, CodingKey {
            case group = "groupId"
            case limit, before
        }
    }

    public struct GroupDetail: Codable, Hashable, Sendable {
        public var group: Group
        /// The newest member first.
        public var members: [GroupMember]
        /// The newest entry first.
        public var entries: [FeedEntry]

        public init(group: Group, members: [GroupMember], entries: [FeedEntry]) {
            self.group = group
            self.members = members
            self.entries = entries
        }
    }

    /// `admin` or `member`.
    public struct Role: OpenEnumeration {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let admin = Role(rawValue: "admin")
        public static let member = Role(rawValue: "member")
    }

    public struct GroupMember: Codable, Hashable, Sendable, Identifiable {
        public typealias ID = Identifier<GroupMember>

        public var id: ID
        public var groupId: Group.ID
        public var userId: User.ID
        public var role: Role
        public var joinedAt: Timestamp
        public var user: User
        /// Over all groups of the member, not this one alone; nil without entries.
        @OrNull public var personalRecord: TopDay?

        public init(
            id: ID, groupId: Group.ID, userId: User.ID, role: Role, joinedAt: Timestamp, user: User,
            personalRecord: TopDay?
        ) {
            self.id = id
            self.groupId = groupId
            self.userId = userId
            self.role = role
            self.joinedAt = joinedAt
            self.user = user
            self.personalRecord = personalRecord
        }
    }
}
