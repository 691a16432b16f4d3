import Contract

extension Messenger {
    static let users = Section("Users", [GetUser.self, SearchUsers.self])

    /// `GET /users/{id}`: returns a user. Throws 404 "User not found", also for users who have blocked the caller.
    public struct GetUser: Endpoint {
        public static let route = Route.get("/users/{id}")
        public typealias Output = User

        /// The user.
        public var id: User.ID
        private init(derived: Never) { switch derived {} }
    }

    /// A user as other users see them.
    public struct User: Codable, Hashable, Sendable, Identifiable {
        public typealias ID = Identifier<User>

        /// The user's id.
        public var id: ID
        /// The username.
        public var username: String
        /// The display name.
        public var displayName: String
        /// The user's text about themselves; nil when there is none.
        @OrNull public var bio: String?
        /// The picture, downloaded like any file; nil when there is none. An addition to the contract.
        @OrNull public var avatar: File.ID?
        private init(derived: Never) { switch derived {} }

        private enum WireNames: String { case avatar = "avatar_file_id" }
    }

    /// `GET /users/search`: returns at most 20 users, by username. The caller is among them; users between whom there
    /// is a block are not.
    ///
    /// Throws 400 "q parameter required" for a blank query, before it is sent.
    public struct SearchUsers: Endpoint {
        public static let route = Route.get("/users/search")
        public typealias Output = [UserSummary]

        /// A part of the username or of the display name, regardless of case.
        public var query: String
        private init(derived: Never, _ query: Never) { switch derived {} }

        public func validate() throws(Problem) {
            guard !query.isBlank else { throw Problem(.badRequest, "q parameter required") }
        }

        enum CodingKeys: String, CodingKey { case query = "q" }
    }

    /// A user in the result of a search.
    public struct UserSummary: Codable, Hashable, Sendable, Identifiable {
        /// The user's id.
        public var id: User.ID
        /// The username.
        public var username: String
        /// The display name.
        public var displayName: String
        private init(derived: Never) { switch derived {} }
    }
}
