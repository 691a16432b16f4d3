import Contract

/// Blocking of users: an addition to the contract.
extension DeuceDiary {
    static let blocks = Section("Blocks", [BlockUser.self, UnblockUser.self, ListBlocks.self])

    /// `POST /api/users/{userId}/block`: blocks a user with whom the caller shares a group, or whose entries the caller
    /// sees. Neither can react to the other's entries any more, or join a group by the other's invite. What both have
    /// written stays where it is, and so do the groups that they share. Blocking twice has the same effect as once. An
    /// addition to the contract.
    ///
    /// Throws 404 "User not found" and 400 "You can't block yourself".
    public struct BlockUser: Endpoint {
        public static let route = Route.post("/api/users/{userId}/block", mayRepeat: true)
        public typealias Output = Confirmation

        /// The user to block.
        public var user: User.ID
        private init(derived: Never) { switch derived {} }
    }

    /// `DELETE /api/users/{userId}/block`: removes a block if there is one, and succeeds either way. An addition to the
    /// contract.
    public struct UnblockUser: Endpoint {
        public static let route = Route.delete("/api/users/{userId}/block")
        public typealias Output = Confirmation

        /// The user to unblock.
        public var user: User.ID
        private init(derived: Never) { switch derived {} }
    }

    /// `GET /api/blocks`: returns the users whom the caller has blocked, the newest block first. An addition to the
    /// contract.
    public struct ListBlocks: Endpoint {
        public static let route = Route.get("/api/blocks")
        public typealias Output = [User]

        public init() {}
    }
}
