import Contract

extension DeuceDiary {
    static let reactions = Section(
        "Reactions",
        [
            AddReaction.self, RemoveReaction.self, ListReactions.self,
        ])

    /// A reaction to an entry.
    public struct Reaction: Codable, Hashable, Sendable, Identifiable {
        public typealias ID = Identifier<Reaction>

        /// The reaction's id.
        public var id: ID
        /// The entry.
        public var entryId: DeuceEntry.ID
        /// The user who reacted.
        public var userId: User.ID
        /// The emoji.
        public var emoji: String
        /// The time of the reaction.
        public var createdAt: Timestamp
        private init(derived: Never) { switch derived {} }
    }

    /// A reaction with the user who reacted.
    public typealias UserReaction = WithUser<Reaction>

    /// `POST /api/entries/{entryId}/reactions`: adds a reaction.
    ///
    /// Throws 404 "Entry not found", 403 "Not authorized to react to this entry", and 400 "You've already reacted with
    /// this emoji".
    public struct AddReaction: Endpoint {
        public static let route = Route.post("/api/entries/{entryId}/reactions", idempotencyKey: true)
        public typealias Output = Reaction

        /// The entry.
        public var entry: DeuceEntry.ID
        /// The emoji: 1 to 10 Unicode scalars with a visible character, stored and compared unchanged.
        public var emoji: String
        private init(derived: Never) { switch derived {} }

        public func validate() throws(Problem) {
            try DeuceDiary.validate(emoji: emoji)
            guard emoji.length <= 10 else { throw Problem(.badRequest, "Emoji must be 10 characters or less") }
        }
    }

    fileprivate static func validate(emoji: String) throws(Problem) {
        guard !emoji.isBlank else { throw Problem(.badRequest, "Emoji is required") }
    }

    /// `DELETE /api/entries/{entryId}/reactions`, with a body: removes the caller's reaction if there is one, and
    /// succeeds either way.
    public struct RemoveReaction: Endpoint {
        public static let route = Route.delete("/api/entries/{entryId}/reactions", in: .json)
        public typealias Output = Confirmation

        /// The entry.
        public var entry: DeuceEntry.ID
        /// The emoji.
        public var emoji: String
        private init(derived: Never) { switch derived {} }

        public func validate() throws(Problem) { try DeuceDiary.validate(emoji: emoji) }
    }

    /// The answer of an operation that returns only a message.
    public struct Confirmation: Codable, Hashable, Sendable {
        /// The message in English.
        public var message: String
        private init(derived: Never) { switch derived {} }
    }

    /// `GET /api/entries/{entryId}/reactions`: returns the reactions, oldest first. Throws 404 "Entry not found" and
    /// 403 "Not authorized to access this entry".
    public struct ListReactions: Endpoint {
        public static let route = Route.get("/api/entries/{entryId}/reactions")
        public typealias Output = [UserReaction]
        /// The maximum number of reactions in one answer.
        public static let maximum = 1000
        public static let fieldRules = ["limit": FieldRule.counting(upTo: maximum)]

        /// The entry.
        public var entry: DeuceEntry.ID
        /// The number of reactions to return: 1 to 1,000, the maximum when absent. An addition to the contract.
        public var limit: Int? = nil
        /// Returns only reactions that follow this one in the list. Throws 400 "Invalid cursor" when it is not in the
        /// list. An addition to the contract.
        public var after: Reaction.ID? = nil
        private init(derived: Never) { switch derived {} }

        public func validate() throws(Problem) {
            try DeuceDiary.validate(limit: limit)
            if let after, !after.isValid { throw Problem(.badRequest, "Invalid cursor") }
        }
    }
}
