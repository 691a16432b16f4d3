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
        private init(derived: Never) { switch derived {} }

        public func validatePath() throws(Problem) { try Dunbar.validate(user) }
    }

    /// `DELETE /users/{id}/block`: removes a block. Follows that it ended stay ended. Unblocking twice has the same
    /// effect as once.
    public struct Unblock: Endpoint {
        public static let route = Route.delete("/users/{id}/block")
        public typealias Output = Confirmation

        /// The user to unblock.
        public var user: User.ID
        private init(derived: Never) { switch derived {} }

        public func validatePath() throws(Problem) { try Dunbar.validate(user) }
    }

    /// `GET /blocks`: returns the users whom the caller has blocked, newest block first.
    public struct ListBlocks: Endpoint {
        public static let route = Route.get("/blocks")
        public typealias Output = [User]

        /// The number of users to return: 1 to 500, the maximum when absent.
        public var limit: Int? = nil
        /// Returns only users that follow this one in the list.
        public var before: User.ID? = nil
        /// The word ``Inclusions/relationship`` asks for ``User/isFollowing`` and ``User/isPending``.
        public var include: Inclusions? = nil
        private init(derived: Never) { switch derived {} }

        public func validate() throws(Problem) { try Dunbar.validate(limit: limit, upTo: 500, before: before) }
    }
}
