import Contract

extension DeuceDiary {
    static let members = Section("Members", [LeaveGroup.self, RemoveMember.self])

    /// `POST /api/groups/{groupId}/leave`: ends the caller's membership and the invites that they created; their
    /// entries stay. An addition to the contract (decisions §6).
    ///
    /// When no admin is left, the longest-standing member becomes one. When the last member leaves, the group is
    /// deleted with its entries and invites. Throws 404 "Group not found" and 403 "Not authorized".
    public struct LeaveGroup: Endpoint {
        public static let route = Route.post("/api/groups/{groupId}/leave")
        public typealias Output = Confirmation

        /// The group.
        public var group: Group.ID
        private init(derived: Never) { switch derived {} }
    }

    /// `DELETE /api/groups/{groupId}/members/{userId}`: ends the membership of another user, with the invites that they
    /// created and those with which they joined; only admins may. The entries stay. An addition to the contract
    /// (decisions §6).
    ///
    /// Throws 404 "Group not found", 403 "Not authorized" when the caller is not an admin, 400 "Use leave to remove
    /// yourself", and 404 "Member not found".
    public struct RemoveMember: Endpoint {
        public static let route = Route.delete("/api/groups/{groupId}/members/{userId}")
        public typealias Output = Confirmation

        /// The group.
        public var group: Group.ID
        /// The member to remove.
        public var user: User.ID
        private init(derived: Never) { switch derived {} }
    }
}
