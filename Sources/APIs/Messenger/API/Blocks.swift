import Contract

/// Blocking of users: additions to the contract.
///
/// When one user has blocked the other, neither can open their direct chat or write to it: 403 "You cannot message this
/// user". Both can still read it, and groups of both are not affected. Neither finds the other in a search, and a
/// blocked user can no longer see the profile of the user who blocked them.
extension Messenger {
    static let blocks = Section("Blocks", [BlockUser.self, UnblockUser.self, ListBlocks.self])

    /// `POST /users/{id}/block`: blocks a user. From its answer on, none of their messages arrive in the direct chat.
    /// Blocking again has no effect.
    ///
    /// Throws 400 "Cannot block yourself" and 404 "User not found".
    public struct BlockUser: Endpoint {
        public static let route = Route.post("/users/{id}/block", .noContent, mayRepeat: true)
        public typealias Output = Empty

        /// The user to block.
        public var user: User.ID
        private init(derived: Never, _ user: Never) { switch derived {} }
    }

    /// `DELETE /users/{id}/block`: removes the caller's block. Without a block it has no effect.
    ///
    /// Throws 400 "Cannot block yourself" and 404 "User not found".
    public struct UnblockUser: Endpoint {
        public static let route = Route.delete("/users/{id}/block", .noContent)
        public typealias Output = Empty

        /// The user to unblock.
        public var user: User.ID
        private init(derived: Never, _ user: Never) { switch derived {} }
    }

    /// `GET /me/blocks`: returns the users whom the caller has blocked, by username.
    public struct ListBlocks: Endpoint {
        public static let route = Route.get("/me/blocks")
        public typealias Output = [UserSummary]

        public init() {}
    }
}
