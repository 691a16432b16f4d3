import Contract

extension DeuceDiary {
    static let locations: [any Contract.Endpoint.Type] = [ListLocations.self, CreateLocation.self]

    public struct Location: Codable, Hashable, Sendable, Identifiable {
        public typealias ID = Identifier<Location>

        public var id: ID
        public var name: String
        /// Whether it was there from the start.
        public var isDefault: Bool
        /// Nil for a default one.
        @OrNull public var createdBy: User.ID?
        public var createdAt: Timestamp

        public init(id: ID, name: String, isDefault: Bool, createdBy: User.ID?, createdAt: Timestamp) {
            self.id = id
            self.name = name
            self.isDefault = isDefault
            self.createdBy = createdBy
            self.createdAt = createdAt
        }
    }

    /// `GET /api/locations`: the default ones first, then the others, each by name. Needs no token.
    public struct ListLocations: OpenEndpoint {
        public static let route = Route.get("/api/locations")
        public typealias Output = [Location]
        public static let maximum = 1000

        /// 1 to 1,000, the most when absent. An addition to the contract.
        public var limit: Int?
        /// From 1, by so many as ``limit`` says. An addition to the contract.
        public var page: Int?

        public init(limit: Int? = nil, page: Int? = nil) {
            self.limit = limit
            self.page = page
        }

        public func validate() throws(Problem) {
            try DeuceDiary.validate(limit: limit)
            try DeuceDiary.validate(limit: page)
        }
    }

    /// `POST /api/locations`: a location for everybody's list, at most 100 from one user.
    ///
    /// 400 "Location already exists", in whatever case; 400 "Location limit reached".
    public struct CreateLocation: Endpoint {
        public static let route = Route.post("/api/locations", idempotencyKey: true)
        public typealias Output = Location

        /// 1 to 100 characters after trimming.
        public var name: String

        public init(name: String) { self.name = name }

        public func validate() throws(Problem) {
            let name = name.trimmed
            guard !name.isEmpty else { throw Problem(.badRequest, "Location name is required") }
            guard name.length <= 100 else {
                throw Problem(.badRequest, "Location name must be 100 characters or less")
            }
        }
    }
}
