import Contract

extension Dunbar {
    static let search: [any Contract.Endpoint.Type] = [SearchUsers.self]

    /// `GET /users/search`: the first 20 by username whose username or display name contains the text, in whatever case.
    /// Admins are not among them.
    public struct SearchUsers: Endpoint {
        public static let route = Route.get("/users/search")
        public typealias Output = [User]

        /// Trimmed. Blank finds nobody.
        public var query: String

        public init(_ query: String) { self.query = query }

        enum CodingKeys: String, CodingKey { case query = "q" }
    }
}
