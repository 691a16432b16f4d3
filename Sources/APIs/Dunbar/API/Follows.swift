import Contract

extension Dunbar {
    static let follows: [any Contract.Endpoint.Type] = [
        Follow.self, Unfollow.self, RemoveFollower.self, ListFollowers.self, ListFollowing.self,
        ListPendingRequests.self, ListOutgoingRequests.self, AcceptRequest.self, RejectRequest.self,
    ]

    /// Of the accounts that one follows; requests that wait do not count.
    public static let maximumFollows = 150

    /// Somebody's wish to follow somebody.
    public enum FollowRequest {
        public typealias ID = Identifier<FollowRequest>
    }

    /// A request that waits for the caller's answer.
    public struct PendingRequest: Codable, Hashable, Sendable, Identifiable {
        /// The request's own, no user's.
        public var id: FollowRequest.ID
        public var createdAt: Timestamp
        /// Who asks.
        public var follower: UserSummary

        public init(id: FollowRequest.ID, createdAt: Timestamp, follower: UserSummary) {
            self.id = id
            self.createdAt = createdAt
            self.follower = follower
        }
    }

    /// A request of the caller's that waits for an answer.
    public struct OutgoingRequest: Codable, Hashable, Sendable, Identifiable {
        /// The request's own, no user's.
        public var id: FollowRequest.ID
        public var createdAt: Timestamp
        /// Who is asked.
        public var following: UserSummary

        public init(id: FollowRequest.ID, createdAt: Timestamp, following: UserSummary) {
            self.id = id
            self.createdAt = createdAt
            self.following = following
        }
    }

    /// `POST /users/{id}/follow`: follows a public account, asks a private one.
    ///
    /// "Following" or "Follow request sent". 400 "You have reached the maximum number of follows (150)".
    public struct Follow: Endpoint {
        public static let route = Route.post("/users/{id}/follow")
        public typealias Output = Confirmation
        /// What the answer says when it was not more than asked for.
        public static let requested = "Follow request sent"

        public var user: User.ID

        public init(user: User.ID) { self.user = user }

        public func validatePath() throws(Problem) { try Dunbar.validate(user) }

        enum CodingKeys: String, CodingKey { case user = "id" }
    }

    /// `POST /users/{id}/unfollow`: takes back a follow, or a request. 400 "Not following this user".
    public struct Unfollow: Endpoint {
        public static let route = Route.post("/users/{id}/unfollow")
        public typealias Output = Confirmation

        public var user: User.ID

        public init(user: User.ID) { self.user = user }

        public func validatePath() throws(Problem) { try Dunbar.validate(user) }

        enum CodingKeys: String, CodingKey { case user = "id" }
    }

    /// `POST /followers/{id}/remove`: somebody no longer follows the caller. 400 "This user is not your follower".
    public struct RemoveFollower: Endpoint {
        public static let route = Route.post("/followers/{id}/remove")
        public typealias Output = Confirmation

        public var follower: User.ID

        public init(follower: User.ID) { self.follower = follower }

        public func validatePath() throws(Problem) { try Dunbar.validate(follower, "Invalid follower ID") }

        enum CodingKeys: String, CodingKey { case follower = "id" }
    }

    /// `GET /users/{id}/followers`: one's own, newest first. 403 for anybody else's.
    public struct ListFollowers: Endpoint {
        public static let route = Route.get("/users/{id}/followers")
        public static let fieldsComeLast = true
        public typealias Output = [User]

        public var user: User.ID
        /// 1 to 500, the most when absent. An addition to the contract.
        public var limit: Int?
        /// Only those behind this one in the list. An addition to the contract.
        public var before: User.ID?

        public init(of user: User.ID, limit: Int? = nil, before: User.ID? = nil) {
            self.user = user
            self.limit = limit
            self.before = before
        }

        public func validatePath() throws(Problem) { try Dunbar.validate(user) }
        public func validate() throws(Problem) { try Dunbar.validate(limit: limit, upTo: 500, before: before) }

        enum CodingKeys: String, CodingKey {
            case user = "id"
            case limit, before
        }
    }

    /// `GET /users/{id}/following`: whom one follows oneself, newest first. 403 for anybody else.
    public struct ListFollowing: Endpoint {
        public static let route = Route.get("/users/{id}/following")
        public static let fieldsComeLast = true
        public typealias Output = [User]

        public var user: User.ID
        /// 1 to 500, the most when absent. An addition to the contract.
        public var limit: Int?
        /// Only those behind this one in the list. An addition to the contract.
        public var before: User.ID?

        public init(of user: User.ID, limit: Int? = nil, before: User.ID? = nil) {
            self.user = user
            self.limit = limit
            self.before = before
        }

        public func validatePath() throws(Problem) { try Dunbar.validate(user) }
        public func validate() throws(Problem) { try Dunbar.validate(limit: limit, upTo: 500, before: before) }

        enum CodingKeys: String, CodingKey {
            case user = "id"
            case limit, before
        }
    }

    /// `GET /follow-requests/pending`: those that wait for the caller's answer, newest first.
    public struct ListPendingRequests: Endpoint {
        public static let route = Route.get("/follow-requests/pending")
        public typealias Output = [PendingRequest]

        /// 1 to 500, the most when absent. An addition to the contract.
        public var limit: Int?
        /// Only those behind this one in the list. An addition to the contract.
        public var before: FollowRequest.ID?

        public init(limit: Int? = nil, before: FollowRequest.ID? = nil) {
            self.limit = limit
            self.before = before
        }

        public func validate() throws(Problem) { try Dunbar.validate(limit: limit, upTo: 500, before: before) }
    }

    /// `GET /follow-requests/outgoing`: the caller's own that wait for an answer, newest first.
    public struct ListOutgoingRequests: Endpoint {
        public static let route = Route.get("/follow-requests/outgoing")
        public typealias Output = [OutgoingRequest]

        /// 1 to 500, the most when absent. An addition to the contract.
        public var limit: Int?
        /// Only those behind this one in the list. An addition to the contract.
        public var before: FollowRequest.ID?

        public init(limit: Int? = nil, before: FollowRequest.ID? = nil) {
            self.limit = limit
            self.before = before
        }

        public func validate() throws(Problem) { try Dunbar.validate(limit: limit, upTo: 500, before: before) }
    }

    /// `POST /follow-requests/{id}/accept`: 404 "Follow request not found" for anybody else's, and one that was answered;
    /// 400 "This user has reached the maximum number of follows (150)".
    public struct AcceptRequest: Endpoint {
        public static let route = Route.post("/follow-requests/{id}/accept")
        public typealias Output = Confirmation

        public var id: FollowRequest.ID

        public init(id: FollowRequest.ID) { self.id = id }

        public func validatePath() throws(Problem) { try Dunbar.validate(id) }
    }

    /// `POST /follow-requests/{id}/reject`: 404 as ``AcceptRequest``. The one who asked may ask again.
    public struct RejectRequest: Endpoint {
        public static let route = Route.post("/follow-requests/{id}/reject")
        public typealias Output = Confirmation

        public var id: FollowRequest.ID

        public init(id: FollowRequest.ID) { self.id = id }

        public func validatePath() throws(Problem) { try Dunbar.validate(id) }
    }

    private static func validate(_ id: FollowRequest.ID) throws(Problem) {
        guard id.isValid else { throw Problem(.badRequest, "Invalid request ID") }
    }
}
