import Contract

extension DeuceDiary {
    static let locations = Section("Locations", [ListLocations.self, CreateLocation.self])

    /// A location in the list that all users share.
    public struct Location: Codable, Hashable, Sendable, Identifiable {
        public typealias ID = Identifier<Location>

        /// The location's id.
        public var id: ID
        /// The name.
        public var name: String
        /// Whether the location is one of those that every installation has.
        public var isDefault: Bool
        /// The user who added it; nil for a default location.
        @OrNull public var createdBy: User.ID?
        /// The time at which it was added.
        public var createdAt: Timestamp
        private init(derived: Never) { switch derived {} }
    }

    /// `GET /api/locations`: returns the default locations, then the others, each by name. It needs no token.
    public struct ListLocations: OpenEndpoint {
        public static let route = Route.get("/api/locations")
        public typealias Output = [Location]
        /// The maximum number of locations in one answer.
        public static let maximum = 1000
        public static let fieldRules = ["limit": FieldRule.counting(upTo: maximum)]

        /// The number of locations to return: 1 to 1,000, the maximum when absent. An addition to the contract.
        public var limit: Int? = nil
        /// The page, from 1; ``limit`` is the size of a page. An addition to the contract.
        public var page: Int? = nil
        private init(derived: Never) { switch derived {} }

        public func validate() throws(Problem) {
            try DeuceDiary.validate(limit: limit)
            try DeuceDiary.validate(limit: page)
        }
    }

    /// `POST /api/locations`: adds a location to the shared list, at most 100 from one user.
    ///
    /// Throws 400 "Location already exists", regardless of case and width, and 400 "Location limit reached".
    public struct CreateLocation: Endpoint {
        public static let route = Route.post("/api/locations", idempotencyKey: true)
        public typealias Output = Location

        /// The name: 1 to 100 characters after trimming, without control characters and other invisible characters except
        /// joiners.
        public var name: String
        private init(derived: Never) { switch derived {} }

        public func validate() throws(Problem) {
            let name = name.trimmed
            guard !name.isEmpty else { throw Problem(.badRequest, "Location name is required") }
            guard name.length <= 100 else {
                throw Problem(.badRequest, "Location name must be 100 characters or less")
            }
            guard !self.name.containsStrayFormatting else {
                throw Problem(.badRequest, "Location name contains invalid characters")
            }
        }
    }
}
