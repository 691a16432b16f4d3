import Contract

extension Dunbar {
    static let follows = Section(
        "Follows",
        [
            Follow.self, Unfollow.self, RemoveFollower.self, ListFollowers.self, ListFollowing.self,
            ListPendingRequests.self, ListOutgoingRequests.self, AcceptRequest.self, RejectRequest.self,
        ])

    /// The maximum number of accounts that a user may follow; pending requests do not count.
    public static let maximumFollows = 150

    /// A request to follow a user, as a type of ids.
    public enum FollowRequest {
        public typealias ID = Identifier<FollowRequest>
    }

    /// A request to follow the caller, which the caller has not answered yet.
    public struct PendingRequest: Codable, Hashable, Sendable, Identifiable {
        /// The id of the request, which is not a user's id.
        public var id: FollowRequest.ID
        /// The time of the request.
        public var createdAt: Timestamp
        /// The user who asks.
        public var follower: UserSummary
        private init(derived: Never) { switch derived {} }
    }

    /// A request by the caller that has not been answered yet.
    public struct OutgoingRequest: Codable, Hashable, Sendable, Identifiable {
        /// The id of the request, which is not a user's id.
        public var id: FollowRequest.ID
        /// The time of the request.
        public var createdAt: Timestamp
        /// The user who is asked.
        public var following: UserSummary
        private init(derived: Never) { switch derived {} }
    }

    /// `POST /users/{id}/follow`: follows a public account, or asks to follow a private one.
    ///
    /// Answers "Following" or "Follow request sent". Throws 400 "You have reached the maximum number of follows (150)".
    public struct Follow: Endpoint {
        public static let route = Route.post("/users/{id}/follow")
        public typealias Output = Confirmation
        /// The message of the answer when the follow is only requested.
        public static let requested = "Follow request sent"

        /// The user to follow.
        public var user: User.ID
        private init(derived: Never) { switch derived {} }

        public func validatePath() throws(Problem) { try Dunbar.validate(user) }
    }

    /// `POST /users/{id}/unfollow`: ends a follow, or withdraws a request. Throws 400 "Not following this user".
    public struct Unfollow: Endpoint {
        public static let route = Route.post("/users/{id}/unfollow")
        public typealias Output = Confirmation

        /// The user to unfollow.
        public var user: User.ID
        private init(derived: Never) { switch derived {} }

        public func validatePath() throws(Problem) { try Dunbar.validate(user) }
    }

    /// `POST /followers/{id}/remove`: removes a follower of the caller. Throws 400 "This user is not your follower".
    public struct RemoveFollower: Endpoint {
        public static let route = Route.post("/followers/{id}/remove")
        public typealias Output = Confirmation

        /// The follower.
        public var follower: User.ID
        private init(derived: Never) { switch derived {} }

        public func validatePath() throws(Problem) { try Dunbar.validate(follower, "Invalid follower ID") }
    }

    /// `GET /users/{id}/followers`: returns the caller's own followers, newest first. Throws 403 for any other user.
    public struct ListFollowers: Endpoint {
        public static let route = Route.get("/users/{id}/followers")
        public static let fieldsComeLast = true
        public typealias Output = [User]

        /// The user, who must be the caller.
        public var user: User.ID
        /// The number of users to return: 1 to 500, the maximum when absent. An addition to the contract.
        public var limit: Int? = nil
        /// Returns only users that follow this one in the list. An addition to the contract.
        public var before: User.ID? = nil
        /// The word ``Inclusions/relationship`` asks for ``User/isFollowing`` and ``User/isPending``. An addition to the
        /// contract.
        public var include: Inclusions? = nil
        private init(derived: Never, of user: Never) { switch derived {} }

        public func validatePath() throws(Problem) { try Dunbar.validate(user) }
        public func validate() throws(Problem) { try Dunbar.validate(limit: limit, upTo: 500, before: before) }
    }

    /// `GET /users/{id}/following`: returns the users whom the caller follows, newest first. Throws 403 for any other
    /// user.
    public struct ListFollowing: Endpoint {
        public static let route = Route.get("/users/{id}/following")
        public static let fieldsComeLast = true
        public typealias Output = [User]

        /// The user, who must be the caller.
        public var user: User.ID
        /// The number of users to return: 1 to 500, the maximum when absent. An addition to the contract.
        public var limit: Int? = nil
        /// Returns only users that follow this one in the list. An addition to the contract.
        public var before: User.ID? = nil
        /// The word ``Inclusions/relationship`` asks for ``User/isFollowing`` and ``User/isPending``. An addition to the
        /// contract.
        public var include: Inclusions? = nil
        private init(derived: Never, of user: Never) { switch derived {} }

        public func validatePath() throws(Problem) { try Dunbar.validate(user) }
        public func validate() throws(Problem) { try Dunbar.validate(limit: limit, upTo: 500, before: before) }
    }

    /// `GET /follow-requests/pending`: returns the requests that await the caller's answer, newest first.
    public struct ListPendingRequests: Endpoint {
        public static let route = Route.get("/follow-requests/pending")
        public typealias Output = [PendingRequest]

        /// The number of requests to return: 1 to 500, the maximum when absent. An addition to the contract.
        public var limit: Int? = nil
        /// Returns only requests that follow this one in the list. An addition to the contract.
        public var before: FollowRequest.ID? = nil
        private init(derived: Never) { switch derived {} }

        public func validate() throws(Problem) { try Dunbar.validate(limit: limit, upTo: 500, before: before) }
    }

    /// `GET /follow-requests/outgoing`: returns the caller's own unanswered requests, newest first.
    public struct ListOutgoingRequests: Endpoint {
        public static let route = Route.get("/follow-requests/outgoing")
        public typealias Output = [OutgoingRequest]

        /// The number of requests to return: 1 to 500, the maximum when absent. An addition to the contract.
        public var limit: Int? = nil
        /// Returns only requests that follow this one in the list. An addition to the contract.
        public var before: FollowRequest.ID? = nil
        private init(derived: Never) { switch derived {} }

        public func validate() throws(Problem) { try Dunbar.validate(limit: limit, upTo: 500, before: before) }
    }

    /// `POST /follow-requests/{id}/accept`: accepts a request. Throws 404 "Follow request not found" for requests to
    /// others and for answered ones, and 400 "This user has reached the maximum number of follows (150)".
    public struct AcceptRequest: Endpoint {
        public static let route = Route.post("/follow-requests/{id}/accept")
        public typealias Output = Confirmation

        /// The request.
        public var id: FollowRequest.ID
        private init(derived: Never) { switch derived {} }

        public func validatePath() throws(Problem) { try Dunbar.validate(id) }
    }

    /// `POST /follow-requests/{id}/reject`: rejects a request; the user may ask again. Throws 404 as ``AcceptRequest``
    /// does.
    public struct RejectRequest: Endpoint {
        public static let route = Route.post("/follow-requests/{id}/reject")
        public typealias Output = Confirmation

        /// The request.
        public var id: FollowRequest.ID
        private init(derived: Never) { switch derived {} }

        public func validatePath() throws(Problem) { try Dunbar.validate(id) }
    }

    private static func validate(_ id: FollowRequest.ID) throws(Problem) {
        guard id.isValid else { throw Problem(.badRequest, "Invalid request ID") }
    }
}
