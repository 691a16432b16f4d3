import Contract

/// Blocking of users. Additions to the contract.
extension Dunbar {
    static let blocks = Section("Blocks", [Block.self, Unblock.self, ListBlocks.self])

    /// `POST /users/{id}/block`: blocks a user. Neither sees the other's posts and comments any more, or finds the
    /// other in a search. Follows and requests between them end, and no longer count among the 150. To the blocked
    /// user, the caller does not seem to exist. Blocking twice has the same effect as once. Nothing is hidden from an
    /// admin.
    ///
    /// Throws 400 "Cannot block yourself".
    public struct Block: Endpoint {
        public static let route = Route.post("/users/{id}/block", mayRepeat: true)
        public typealias Output = Confirmation

        /// The user to block.
        public var user: User.ID

        public init(user: User.ID) { self.user = user }

        public func validatePath() throws(Problem) { try Dunbar.validate(user) }

        enum CodingKeys: String, CodingKey { case user = "id" }
    }

    /// `DELETE /users/{id}/block`: removes a block. Follows that it ended stay ended. Unblocking twice has the same
    /// effect as once.
    public struct Unblock: Endpoint {
        public static let route = Route.delete("/users/{id}/block")
        public typealias Output = Confirmation

        /// The user to unblock.
        public var user: User.ID

        public init(user: User.ID) { self.user = user }

        public func validatePath() throws(Problem) { try Dunbar.validate(user) }

        enum CodingKeys: String, CodingKey { case user = "id" }
    }

    /// `GET /blocks`: returns the users whom the caller has blocked, newest block first.
    public struct ListBlocks: Endpoint {
        public static let route = Route.get("/blocks")
        public typealias Output = [User]

        /// The number of users to return: 1 to 500, the maximum when absent.
        public var limit: Int?
        /// Returns only users that follow this one in the list.
        public var before: User.ID?
        /// The word ``Inclusions/relationship`` asks for ``User/isFollowing`` and ``User/isPending``.
        public var include: Inclusions?

        public init(limit: Int? = nil, before: User.ID? = nil, include: Inclusions? = nil) {
            self.limit = limit
            self.before = before
            self.include = include
        }

        public func validate() throws(Problem) { try Dunbar.validate(limit: limit, upTo: 500, before: before) }
    }
}
