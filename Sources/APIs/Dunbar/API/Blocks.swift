import Contract

/// People who want to have nothing to do with each other. Additions to the contract.
extension Dunbar {
    static let blocks: [any Contract.Endpoint.Type] = [Block.self, Unblock.self, ListBlocks.self]

    /// `POST /users/{id}/block`: neither sees the other's posts and comments any more, or finds the other; follows and
    /// requests between them end, and free their place among the 150. For the blocked one there is no such user as the
    /// caller. Twice is as once. Nothing is hidden from an admin.
    ///
    /// 400 "Cannot block yourself".
    public struct Block: Endpoint {
        public static let route = Route.post("/users/{id}/block", mayRepeat: true)
        public typealias Output = Confirmation

        public var user: User.ID

        public init(user: User.ID) { self.user = user }

        public func validatePath() throws(Problem) { try Dunbar.validate(user) }

        enum CodingKeys: String, CodingKey { case user = "id" }
    }

    /// `DELETE /users/{id}/block`: takes a block back. What it ended does not begin again. Twice is as once.
    public struct Unblock: Endpoint {
        public static let route = Route.delete("/users/{id}/block")
        public typealias Output = Confirmation

        public var user: User.ID

        public init(user: User.ID) { self.user = user }

        public func validatePath() throws(Problem) { try Dunbar.validate(user) }

        enum CodingKeys: String, CodingKey { case user = "id" }
    }

    /// `GET /blocks`: whom the caller has blocked, newest first.
    public struct ListBlocks: Endpoint {
        public static let route = Route.get("/blocks")
        public typealias Output = [User]

        /// 1 to 500, the most when absent.
        public var limit: Int?
        /// Only those behind this one in the list.
        public var before: User.ID?

        public init(limit: Int? = nil, before: User.ID? = nil) {
            self.limit = limit
            self.before = before
        }

        public func validate() throws(Problem) { try Dunbar.validate(limit: limit, upTo: 500, before: before) }
    }
}
