import Contract

extension DeuceDiary {
    static let entries = Section("Entries", [LogDeuce.self, ListDeuces.self, DeleteDeuce.self])

    /// A log entry in one group.
    public struct DeuceEntry: Codable, WrittenByMembers, Hashable, Sendable, Identifiable {
        /// The id of an entry, a UUID.
        public typealias ID = TextIdentifier<DeuceEntry>

        /// The entry's id.
        public var id: ID
        /// The author.
        public var userId: User.ID
        /// The group.
        public var groupId: Group.ID
        /// The location, as the author wrote it.
        public var location: String
        /// The author's text; it may be empty.
        public var thoughts: String
        /// The time at which it happened, according to the author.
        public var loggedAt: Timestamp
        /// The time at which the server received the entry.
        public var createdAt: Timestamp
        private init(derived: Never) { switch derived {} }
    }

    /// An entry with its author, as a group's feed and the live socket show it.
    public typealias FeedEntry = WithUser<DeuceEntry>

    /// `POST /api/deuces`: logs an entry into one or more groups, into all of them or none.
    ///
    /// Throws 403 "Not authorized for group <id>" for the first group of which the caller is not a member. The log
    /// counts once for the caller, regardless of the number of groups.
    public struct LogDeuce: Endpoint {
        public static let route = Route.post("/api/deuces", idempotencyKey: true).rememberingKeys(forHours: 72)
        public typealias Output = LoggedDeuce
        /// The maximum number of groups in one request.
        public static let maximumGroups = 50

        /// The groups: 1 to 50. Repeated ones count once.
        public var groups: [Group.ID]
        /// The location: 1 to 100 characters after trimming. It need not be in the list of locations.
        public var location: String
        /// The text: up to 500 characters, stored unchanged. It may be empty but must be present; nil stands for an
        /// absent one.
        public private(set) var thoughts: String?
        /// The time at which it happened: from 1970 to at most a minute ahead of the server; the present time when
        /// absent.
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

        /// Parses a date-time, or a day, which stands for its beginning in UTC.
        private static func time(_ text: String) -> Timestamp? {
            Timestamp(text) ?? Day(text).map { .init(milliseconds: $0.daysSince1970 * 86_400_000) }
        }

        /// The groups without repetitions, in the order of their first appearance.
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

        /// The key of the single group in requests of older apps.
        private enum OlderKeys: String, CodingKey { case group = "groupId" }
    }

    /// The answer to ``LogDeuce``.
    public struct LoggedDeuce: Codable, Hashable, Sendable {
        /// The new entries, one for each group, in the order of the request.
        public var entries: [DeuceEntry]
        /// The number of entries.
        public var count: Int

        public init(entries: [DeuceEntry]) {
            self.entries = entries
            self.count = entries.count
        }
    }

    /// `GET /api/deuces`: returns the entries of all the caller's groups, or of one group, newest first. An addition to
    /// the contract (decisions §6).
    ///
    /// For one group it throws 404 "Group not found" and 403 "Not authorized".
    public struct ListDeuces: Endpoint {
        public static let route = Route.get("/api/deuces")
        public typealias Output = [FeedItem]
        /// The maximum number of entries in one answer.
        public static let maximum = 100
        public static let fieldRules = ["limit": FieldRule.counting(upTo: maximum)]
        /// The number of entries in an answer when a request gives no limit.
        public static let usual = 50

        /// The group; all the caller's groups when nil.
        public var group: Group.ID? = nil
        /// The number of entries to return: 1 to 100, 50 when absent.
        public var limit: Int? = nil
        /// Returns only entries that follow this one in the list. Throws 400 "Invalid cursor" when it is not in the
        /// list.
        public var before: DeuceEntry.ID? = nil
        private init(derived: Never) { switch derived {} }

        public func validate() throws(Problem) { try DeuceDiary.validate(limit: limit) }
    }

    /// An entry with its author and its reactions, in one JSON object.
    @dynamicMemberLookup
    public struct FeedItem: Codable, WrittenByMembers, Hashable, Sendable, Identifiable {
        /// The entry with its author.
        public var entry: FeedEntry
        /// The reactions, oldest first, at most 1,000.
        public var reactions: [Reaction]
        /// The entry's id.
        public var id: DeuceEntry.ID { entry.id }

        private init(derived: Never, _ entry: Never) { switch derived {} }

        private enum CodingKeys: String, CodingKey { case reactions }

        public init(from decoder: any Decoder) throws {
            entry = try FeedEntry(from: decoder)
            reactions = try decoder.container(keyedBy: CodingKeys.self).decode([Reaction].self, forKey: .reactions)
        }

        public func encode(to encoder: any Encoder) throws { try encodeMembers(to: encoder) }

        @usableFromInline
        package func write(to object: inout ObjectWriter) throws {
            try entry.write(to: &object)
            try object.write("reactions", encoding: reactions)
        }

        /// Returns a member of the entry.
        public subscript<Member>(dynamicMember path: KeyPath<FeedEntry, Member>) -> Member { entry[keyPath: path] }
    }

    /// `DELETE /api/deuces/{entryId}`: removes an entry of the caller's from one group, with its reactions. An addition
    /// to the contract (decisions §6).
    ///
    /// Authors may also remove entries from groups that they have left; ``ExportUser`` lists those. When the last entry
    /// of a log is removed, the log no longer counts in ``User/deuceCount`` and in records. Throws 403 "Not authorized
    /// to delete this entry" for an entry of another member, and 404 "Entry not found" for one in a group of which the
    /// caller is not a member.
    public struct DeleteDeuce: Endpoint {
        public static let route = Route.delete("/api/deuces/{entryId}")
        public typealias Output = Confirmation

        /// The entry.
        public var entry: DeuceEntry.ID
        private init(derived: Never) { switch derived {} }
    }
}
