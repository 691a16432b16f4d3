import Contract
import Foundation

extension DeuceDiary {
    static let invites = Section(
        "Invites",
        [
            CreateInvite.self, JoinGroup.self, OpenInvite.self, PreviewInvite.self, ListInvites.self, RevokeInvite.self,
        ])

    /// An invite as a type of ids. The rest of it stays on the server.
    public enum Invite {
        /// The id of an invite, a UUID.
        public typealias ID = TextIdentifier<Invite>

        /// Returns the invite in a link of the form `deucediary://join/<id>` or `https://<host>/join/<id>`; nil for any
        /// other link.
        public static func id(in link: URL) -> ID? {
            let steps = link.pathComponents.filter { $0 != "/" }
            let path: [String]
            switch link.scheme?.lowercased() {
            case "deucediary": path = (link.host.map { [$0.lowercased()] } ?? []) + steps
            case "http", "https": path = steps
            default: return nil
            }
            guard path.count == 2, path[0] == "join" else { return nil }
            let id = ID(path[1])
            return id.isUUID ? id : nil
        }
    }

    /// `POST /api/groups/{groupId}/invite`: creates a link with which any number of users may join, for 7 days. It ends
    /// earlier when it is revoked, or when its creator leaves the group.
    ///
    /// Throws 403 "Not authorized" when the caller is not a member, and for a group that does not exist.
    public struct CreateInvite: Endpoint {
        public static let route = Route.post("/api/groups/{groupId}/invite", idempotencyKey: true)
        public typealias Output = CreatedInvite

        /// The group.
        public var group: Group.ID
        private init(derived: Never) { switch derived {} }
    }

    /// A new invite.
    public struct CreatedInvite: Codable, Hashable, Sendable, Identifiable {
        /// The link to share.
        public var inviteLink: String
        /// The invite's id.
        public var id: Invite.ID
        private init(derived: Never) { switch derived {} }
    }

    /// `POST /api/join/{inviteId}`: accepts an invite. Throws 400 "Invalid or expired invite".
    public struct JoinGroup: Endpoint {
        public static let route = Route.post("/api/join/{inviteId}")
        public typealias Output = JoinedGroup

        /// The invite.
        public var invite: Invite.ID
        private init(derived: Never) { switch derived {} }
    }

    /// The answer to ``JoinGroup``.
    public struct JoinedGroup: Codable, Hashable, Sendable {
        /// The group that the caller has joined.
        public var group: Group
        /// A message that is present only when the caller was already a member.
        public var message: String? = nil
        private init(derived: Never) { switch derived {} }
    }

    /// `GET /join/{inviteId}`: sends a browser to the app. Apps call ``JoinGroup`` instead.
    ///
    /// It answers 302 for any UUID, whether or not there is such an invite, and 404 "Not found" for any other text.
    public struct OpenInvite: OpenEndpoint {
        public static let route = Route.get("/join/{inviteId}", .found)
        public typealias Output = Empty

        /// The invite.
        public var invite: Invite.ID
        private init(derived: Never) { switch derived {} }
    }

    /// `GET /api/groups/preview/{inviteId}`: returns what an invite leads to. It needs no token. An addition to the
    /// contract (decisions §6).
    ///
    /// Throws 404 "Invite not found or expired".
    public struct PreviewInvite: OpenEndpoint {
        public static let route = Route.get("/api/groups/preview/{inviteId}")
        public typealias Output = InvitePreview

        /// The invite.
        public var invite: Invite.ID
        private init(derived: Never) { switch derived {} }
    }

    /// The group that an invite leads to.
    public struct InvitePreview: Codable, Hashable, Sendable {
        /// The name of the group.
        public var name: String
        /// The number of members.
        public var memberCount: Int
        /// The number of entries in the group.
        public var deuceCount: Int
        /// The time at which the invite expires.
        public var expiresAt: Timestamp
        private init(derived: Never) { switch derived {} }
    }

    /// `GET /api/groups/{groupId}/invites`: returns the invites of a group, newest first: a member sees their own, an
    /// admin sees all. An addition to the contract (decisions, second round, 16).
    ///
    /// Throws 403 "Not authorized" when the caller is not a member, and for a group that does not exist.
    public struct ListInvites: Endpoint {
        public static let route = Route.get("/api/groups/{groupId}/invites")
        public typealias Output = [GroupInvite]
        /// The maximum number of invites in one answer.
        public static let maximum = 500
        public static let fieldRules = ["limit": FieldRule.counting(upTo: maximum)]

        /// The group.
        public var group: Group.ID
        /// The number of invites to return: 1 to 500, the maximum when absent.
        public var limit: Int? = nil
        /// Returns only invites that follow this one in the list. Throws 400 "Invalid cursor" when it is not in the
        /// list.
        public var before: Invite.ID? = nil
        private init(derived: Never) { switch derived {} }

        public func validate() throws(Problem) { try DeuceDiary.validate(limit: limit) }
    }

    /// An invite, as users see it who may revoke it.
    public struct GroupInvite: Codable, Hashable, Sendable, Identifiable {
        /// The invite's id.
        public var id: Invite.ID
        /// The group to which the invite leads.
        public var groupId: Group.ID
        /// The link to share.
        public var inviteLink: String
        /// The creator of the invite.
        public var createdBy: User.ID
        /// The time at which the invite expires.
        public var expiresAt: Timestamp
        /// The time at which the invite was created.
        public var createdAt: Timestamp
        private init(derived: Never) { switch derived {} }
    }

    /// `DELETE /api/invites/{inviteId}`: revokes an invite. Its creator and the admins of its group may do so. An
    /// addition to the contract (decisions, second round, 16).
    ///
    /// Throws 404 "Invite not found", also for one that has ended, and 403 "Not authorized".
    public struct RevokeInvite: Endpoint {
        public static let route = Route.delete("/api/invites/{inviteId}")
        public typealias Output = Confirmation

        /// The invite.
        public var invite: Invite.ID
        private init(derived: Never) { switch derived {} }
    }
}
