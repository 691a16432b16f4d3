import Contract

extension DeuceDiary {
    static let groups = Section("Groups", [CreateGroup.self, ListGroups.self, GetGroup.self])

    /// A group of users who log together.
    public struct Group: Codable, Hashable, Sendable, Identifiable {
        /// The id of a group, a UUID.
        public typealias ID = TextIdentifier<Group>

        /// The group's id.
        public var id: ID
        /// The name.
        public var name: String
        /// The description; nil when there is none.
        @OrNull public var description: String?
        /// The user who created the group, or to whom it has passed.
        public var createdBy: User.ID
        /// The time at which the group was created.
        public var createdAt: Timestamp
        /// The time of the last change.
        public var updatedAt: Timestamp
        private init(derived: Never) { switch derived {} }
    }

    /// `POST /api/groups`: creates a group, with the caller as its admin.
    public struct CreateGroup: Endpoint {
        public static let route = Route.post("/api/groups", idempotencyKey: true)
        public typealias Output = Group

        /// The name: 1 to 100 characters after trimming, without control characters and other invisible characters except
        /// joiners.
        public var name: String
        /// The description: at most 500 characters after trimming; a blank one counts as none.
        public var description: String? = nil
        private init(derived: Never) { switch derived {} }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            name = try container.decode(String.self, forKey: .name)
            description = try container.decodeIfPresent(Description.self, forKey: .description)?.text
        }

        public func validate() throws(Problem) {
            guard 1...100 ~= name.trimmed.length else {
                throw Problem(.badRequest, "Invalid group data: name is required (max 100 chars)")
            }
            guard !name.containsStrayFormatting else {
                throw Problem(.badRequest, "Invalid group data: name contains invalid characters")
            }
            guard (description?.trimmed.length ?? 0) <= Description.maximum else {
                throw Problem(.badRequest, "Invalid group data: description must be 500 characters or less")
            }
        }

        /// A description that distinguishes a value of another type from an absent one, unlike other fields.
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

    /// `GET /api/groups`: returns the caller's groups, ordered by their newest entry, newest first; groups without
    /// entries come last.
    public struct ListGroups: Endpoint {
        public static let route = Route.get("/api/groups")
        public typealias Output = [GroupSummary]
        /// The maximum number of groups in one answer.
        public static let maximum = 500
        public static let fieldRules = ["limit": FieldRule.counting(upTo: maximum)]

        /// The number of groups to return: 1 to 500, the maximum when absent. An addition to the contract.
        public var limit: Int? = nil
        /// Returns only the groups that follow this one in the list at present. Throws 400 "Invalid cursor" when it is
        /// not in the list. An addition to the contract.
        public var before: Group.ID? = nil
        private init(derived: Never) { switch derived {} }

        public func validate() throws(Problem) { try DeuceDiary.validate(limit: limit) }
    }

    /// A group in the list of groups.
    public struct GroupSummary: Codable, Hashable, Sendable, Identifiable {
        /// The group's id.
        public var id: Group.ID
        /// The name.
        public var name: String
        /// The description; nil when there is none.
        @OrNull public var description: String?
        /// The user who created the group, or to whom it has passed.
        public var createdBy: User.ID
        /// The time at which the group was created.
        public var createdAt: Timestamp
        /// The time of the last change.
        public var updatedAt: Timestamp
        /// The number of members.
        public var memberCount: Int
        /// The number of entries.
        public var entryCount: Int
        /// The time at which the newest entry was created; nil when there is none.
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

    /// `GET /api/groups/{groupId}`: returns a group with its members and entries. Throws 404 "Group not found" and 403
    /// "Not authorized".
    public struct GetGroup: Endpoint {
        public static let route = Route.get("/api/groups/{groupId}")
        public typealias Output = GroupDetail
        /// The maximum number of entries in one answer.
        public static let maximum = 1000
        public static let fieldRules = ["limit": FieldRule.counting(upTo: maximum)]

        /// The group.
        public var group: Group.ID
        /// The number of entries to return: 1 to 1,000, the maximum when absent. An addition to the contract.
        public var limit: Int? = nil
        /// Returns only entries that follow this one in the list. Throws 400 "Invalid cursor" when it is not in the
        /// list. An addition to the contract.
        public var before: DeuceEntry.ID? = nil
        private init(derived: Never) { switch derived {} }

        public func validate() throws(Problem) { try DeuceDiary.validate(limit: limit) }
    }

    /// A group with its members and a page of its entries.
    public struct GroupDetail: Codable, WrittenByMembers, Hashable, Sendable {
        /// The group.
        public var group: Group
        /// The members, newest first.
        public var members: [GroupMember]
        /// The entries, newest first.
        public var entries: [FeedEntry]
        private init(derived: Never) { switch derived {} }
    }

    /// The role of a member: `admin` or `member`.
    public struct Role: OpenEnumeration {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A member who may remove others and revoke every invite.
        public static let admin = Role(rawValue: "admin")
        /// Any other member.
        public static let member = Role(rawValue: "member")
    }

    /// A member of a group.
    public struct GroupMember: Codable, Hashable, Sendable, Identifiable {
        public typealias ID = Identifier<GroupMember>

        /// The id of the membership.
        public var id: ID
        /// The group.
        public var groupId: Group.ID
        /// The member's user id.
        public var userId: User.ID
        /// The member's role.
        public var role: Role
        /// The time at which the member joined.
        public var joinedAt: Timestamp
        /// The member's profile.
        public var user: User
        /// The member's day with the most logs, over all their groups; nil without entries.
        @OrNull public var personalRecord: TopDay?
        private init(derived: Never) { switch derived {} }
    }
}
