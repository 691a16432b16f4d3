import Contract

extension DeuceDiary {
    /// `GET /api/auth/user/export`: all that the server keeps of the caller, with `Content-Disposition: attachment`. An
    /// addition to the contract (decisions §6).
    public struct ExportUser: Endpoint {
        public static let route = Route.get("/api/auth/user/export")
        public typealias Output = UserExport

        public init() {}
    }

    public struct UserExport: Codable, Hashable, Sendable {
        public var exportedAt: Timestamp
        public var user: User
        /// In the order of ``ListGroups``.
        public var groups: [ExportedGroup]
        /// All of them, in groups that the user has left too; the newest first.
        public var entries: [DeuceEntry]
        /// The oldest first.
        public var reactions: [Reaction]
        /// Those that the user has added, by name.
        public var locations: [Location]

        public init(
            exportedAt: Timestamp, user: User, groups: [ExportedGroup], entries: [DeuceEntry], reactions: [Reaction],
            locations: [Location]
        ) {
            self.exportedAt = exportedAt
            self.user = user
            self.groups = groups
            self.entries = entries
            self.reactions = reactions
            self.locations = locations
        }
    }

    /// A group, and what the user is in it.
    public struct ExportedGroup: Codable, Hashable, Sendable, Identifiable {
        public var id: Group.ID
        public var name: String
        public var role: Role
        public var joinedAt: Timestamp

        public init(id: Group.ID, name: String, role: Role, joinedAt: Timestamp) {
            self.id = id
            self.name = name
            self.role = role
            self.joinedAt = joinedAt
        }
    }
}
