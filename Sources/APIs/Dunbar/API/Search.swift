import Contract

extension Dunbar {
    static let search = Section("Search", [SearchUsers.self])

    /// `GET /users/search`: returns the first 20 users, by username, whose username or display name contains the text,
    /// regardless of case. Admins are left out.
    public struct SearchUsers: Endpoint {
        public static let route = Route.get("/users/search")
        public typealias Output = [User]

        /// The text, trimmed. A blank text matches no user.
        public var query: String
        /// The word ``Inclusions/relationship`` asks for ``User/isFollowing`` and ``User/isPending``. An addition to the
        /// contract.
        public var include: Inclusions? = nil
        private init(derived: Never, _ query: Never) { switch derived {} }

        private enum WireNames: String { case query = "q" }
    }
}
