import Contract

extension DeuceDiary {
    static let members: [any Contract.Endpoint.Type] = [LeaveGroup.self, RemoveMember.self]

    /// `POST /api/groups/{groupId}/leave`: ends the caller's membership and the invites that they made; their entries stay.
    /// An addition to the contract (decisions §6).
    ///
    /// Without any admin left, the longest-standing member becomes one. The last member's leaving deletes the group with
    /// its entries and invites. 404 "Group not found", 403 "Not authorized".
    public struct LeaveGroup: Endpoint {
        public static let route = Route.post("/api/groups/{groupId}/leave")
        public typealias Output = Confirmation

        public var group: Group.ID

        public init(group: Group.ID) { self.group = group }

        enum CodingKeys: String, CodingKey { case group = "groupId" }
    }

    /// `DELETE /api/groups/{groupId}/members/{userId}`: an admin ends the membership of somebody else, with the invites that
    /// they made and those by which they came. Their entries stay. An addition to the contract (decisions §6).
    ///
    /// 404 "Group not found", 403 "Not authorized" for those who are no admins, 400 "Use leave to remove yourself", 404
    /// "Member not found".
    public struct RemoveMember: Endpoint {
        public static let route = Route.delete("/api/groups/{groupId}/members/{userId}")
        public typealias Output = Confirmation

        public var group: Group.ID
        public var user: User.ID

        public init(group: Group.ID, user: User.ID) {
            self.group = group
            self.user = user
        }

        enum CodingKeys: String, CodingKey {
            case group = "groupId"
            case user = "userId"
        }
    }
}
