import Contract

extension DeuceDiary {
    static let entries: [any Contract.Endpoint.Type] = [LogDeuce.self, ListDeuces.self, DeleteDeuce.self]

    /// What was logged, in one group.
    public struct DeuceEntry: Codable, Hashable, Sendable, Identifiable {
        /// A UUID.
        public typealias ID = TextIdentifier<DeuceEntry>

        public var id: ID
        public var userId: User.ID
        public var groupId: Group.ID
        public var location: String
        public var thoughts: String
        /// When it happened, as its author says.
        public var loggedAt: Timestamp
        /// When the server heard of it.
        public var createdAt: Timestamp

        public init(
            id: ID, userId: User.ID, groupId: Group.ID, location: String, thoughts: String, loggedAt: Timestamp,
            createdAt: Timestamp
        ) {
            self.id = id
            self.userId = userId
            self.groupId = groupId
            self.location = location
            self.thoughts = thoughts
            self.loggedAt = loggedAt
            self.createdAt = createdAt
        }
    }

    /// An entry and its author, as a group's feed and the live socket show it.
    public typealias FeedEntry = WithUser<DeuceEntry>

    /// `POST /api/deuces`: logs into one or more groups, into all of them or none.
    ///
    /// 403 "Not authorized for group <id>" for the first in which the caller is no member. Counts once for the caller,
    /// however many groups.
    public struct LogDeuce: Endpoint {
        public static let route = Route.post("/api/deuces", idempotencyKey: true)
        public typealias Output = LoggedDeuce
        public static let maximumGroups = 50

        /// 1 to 50. Repeated ones count once.
        public var groups: [Group.ID]
        /// 1 to 100 characters after trimming. It need not be in the list of locations.
        public var location: String
        /// Up to 500 characters, kept as they are. It may be empty but not absent; nil stands for absent.
        public private(set) var thoughts: String?
        /// Now when absent; from 1970, and at most a minute ahead of the server.
        public var loggedAt: Timestamp?

        public init(groups: [Group.ID], location: String, thoughts: String, loggedAt: Timestamp? = nil) {
            self.groups = groups
            self.location = location
            self.thoughts = thoughts
            self.loggedAt = loggedAt
        }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            if let groups = try container.decodeIfPresent([Group.ID].self, forKey: .groups) {
                self.groups = groups
            } else {
                let older = try decoder.container(keyedBy: OlderKeys.self)
                groups = try older.decodeIfPresent(Group.ID.self, forKey: .group).map { [$0] } ?? []
            }
            location = try container.decode(String.self, forKey: .location)
            thoughts = try container.decodeIfPresent(String.self, forKey: .thoughts)
            let text = try container.decodeIfPresent(String.self, forKey: .loggedAt) ?? ""
            loggedAt = text.isEmpty ? nil : Self.time(text) ?? .init(milliseconds: .min)
        }

        /// Of a date-time, or a day's beginning in UTC.
        private static func time(_ text: String) -> Timestamp? {
            Timestamp(text) ?? Day(text).map { .init(milliseconds: $0.daysSince1970 * 86_400_000) }
        }

        /// Without repeats, in order of their first.
        package var distinctGroups: [Group.ID] {
            var seen: Set<Group.ID> = []
            return groups.filter { seen.insert($0).inserted }
        }

        public func validate() throws(Problem) {
            guard !groups.isEmpty, !groups.contains(where: { $0 == Group.ID.malformed }) else {
                throw Problem(.badRequest, "At least one group must be selected")
            }
            guard distinctGroups.count <= Self.maximumGroups else {
                throw Problem(.badRequest, "At most \(Self.maximumGroups) groups can be selected")
            }
            let place = location.trimmed
            guard !place.isEmpty else { throw Problem(.badRequest, "Location is required") }
            guard place.length <= 100 else { throw Problem(.badRequest, "Location must be 100 characters or less") }
            guard let thoughts else { throw Problem(.badRequest, "Thoughts are required") }
            guard thoughts.length <= 500 else { throw Problem(.badRequest, "Thought must be 500 characters or less") }
            guard (loggedAt?.milliseconds ?? 0) >= 0 else {
                throw Problem(.badRequest, "loggedAt must be a valid ISO 8601 date string")
            }
        }

        enum CodingKeys: String, CodingKey {
            case groups = "groupIds"
            case location, thoughts, loggedAt
        }

        /// How older apps name their one group.
        private enum OlderKeys: String, CodingKey { case group = "groupId" }
    }

    public struct LoggedDeuce: Codable, Hashable, Sendable {
        /// One for each group, in the order of the request.
        public var entries: [DeuceEntry]
        /// How many entries.
        public var count: Int

        public init(entries: [DeuceEntry]) {
            self.entries = entries
            self.count = entries.count
        }
    }

    /// `GET /api/deuces`: the entries of all the caller's groups, or of one, the newest first. An addition to the
    /// contract (decisions §6).
    ///
    /// Of one: 404 "Group not found", 403 "Not authorized".
    public struct ListDeuces: Endpoint {
        public static let route = Route.get("/api/deuces")
        public typealias Output = [FeedItem]
        public static let maximum = 100
        public static let usual = 50

        public var group: Group.ID?
        /// 1 to 100; 50 when absent.
        public var limit: Int?
        /// Only entries that follow this one in the list; 400 "Invalid cursor" for one that is not in it.
        public var before: DeuceEntry.ID?

        public init(group: Group.ID? = nil, limit: Int? = nil, before: DeuceEntry.ID? = nil) {
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

    /// An entry with its author and its reactions, in one object.
    @dynamicMemberLookup
    public struct FeedItem: Codable, Hashable, Sendable, Identifiable {
        public var entry: FeedEntry
        /// The oldest first, 1,000 at most.
        public var reactions: [Reaction]
        public var id: DeuceEntry.ID { entry.id }

        public init(_ entry: FeedEntry, reactions: [Reaction]) {
            self.entry = entry
            self.reactions = reactions
        }

        private enum CodingKeys: String, CodingKey { case reactions }

        public init(from decoder: any Decoder) throws {
            entry = try FeedEntry(from: decoder)
            reactions = try decoder.container(keyedBy: CodingKeys.self).decode([Reaction].self, forKey: .reactions)
        }

        public func encode(to encoder: any Encoder) throws {
            try entry.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(reactions, forKey: .reactions)
        }

        public subscript<Member>(dynamicMember path: KeyPath<FeedEntry, Member>) -> Member { entry[keyPath: path] }
    }

    /// `DELETE /api/deuces/{entryId}`: removes one's own entry from one group, with its reactions. An addition to the
    /// contract (decisions §6).
    ///
    /// Authors may do so after they have left the group too; ``ExportUser`` lists such entries. When the log's last entry
    /// goes, it no longer counts in ``User/deuceCount`` and in records. 403 "Not authorized to delete this entry" for those
    /// of others, 404 "Entry not found" for those of groups in which the caller is no member.
    public struct DeleteDeuce: Endpoint {
        public static let route = Route.delete("/api/deuces/{entryId}")
        public typealias Output = Confirmation

        public var entry: DeuceEntry.ID

        public init(entry: DeuceEntry.ID) { self.entry = entry }

        enum CodingKeys: String, CodingKey { case entry = "entryId" }
    }
}
