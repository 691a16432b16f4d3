import Contract

/// People who are kept away: additions to the contract.
///
/// Where one has blocked the other, neither can open or write to their direct chat: 403 "You cannot message this user".
/// Both still read it, and groups of both go on. Neither finds the other in a search, and whom one has blocked no longer
/// sees one's profile.
extension Messenger {
    static let blocks: [any Contract.Endpoint.Type] = [BlockUser.self, UnblockUser.self, ListBlocks.self]

    /// `POST /users/{id}/block`. From its answer on, nothing of theirs arrives in the direct chat. Again is nothing.
    ///
    /// 400 "Cannot block yourself", 404 "User not found".
    public struct BlockUser: Endpoint {
        public static let route = Route.post("/users/{id}/block", .noContent, mayRepeat: true)
        public typealias Output = Empty

        public var user: User.ID

        public init(_ user: User.ID) { self.user = user }

        enum CodingKeys: String, CodingKey { case user = "id" }
    }

    /// `DELETE /users/{id}/block`: takes one's own block back. Without one it is nothing.
    ///
    /// 400 "Cannot block yourself", 404 "User not found".
    public struct UnblockUser: Endpoint {
        public static let route = Route.delete("/users/{id}/block", .noContent)
        public typealias Output = Empty

        public var user: User.ID

        public init(_ user: User.ID) { self.user = user }

        enum CodingKeys: String, CodingKey { case user = "id" }
    }

    /// `GET /me/blocks`: whom one has blocked, by username.
    public struct ListBlocks: Endpoint {
        public static let route = Route.get("/me/blocks")
        public typealias Output = [UserSummary]

        public init() {}
    }
}
