import Contract

extension DeuceDiary {
    /// `GET /api/auth/user/export`: returns everything that the server stores about the caller, with
    /// `Content-Disposition: attachment`. An addition to the contract (decisions §6).
    public struct ExportUser: Endpoint {
        public static let route = Route.get("/api/auth/user/export")
        public typealias Output = UserExport

        public init() {}
    }

    /// The data that the server stores about a user.
    public struct UserExport: Codable, Hashable, Sendable {
        /// The time of the export.
        public var exportedAt: Timestamp
        /// The user's own account.
        public var user: User
        /// The user's groups, in the order of ``ListGroups``.
        public var groups: [ExportedGroup]
        /// All the user's entries, also in groups that the user has left; newest first.
        public var entries: [DeuceEntry]
        /// The user's reactions, oldest first.
        public var reactions: [Reaction]
        /// The locations that the user has added, by name.
        public var locations: [Location]
        private init(derived: Never) { switch derived {} }
    }

    /// A group, and the user's membership in it.
    public struct ExportedGroup: Codable, Hashable, Sendable, Identifiable {
        /// The group's id.
        public var id: Group.ID
        /// The name of the group.
        public var name: String
        /// The user's role in the group.
        public var role: Role
        /// The time at which the user joined.
        public var joinedAt: Timestamp
        private init(derived: Never) { switch derived {} }
    }
}
