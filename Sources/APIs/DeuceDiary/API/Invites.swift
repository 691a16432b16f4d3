import Contract
import Foundation

extension DeuceDiary {
    static let invites: [any Contract.Endpoint.Type] = [
        CreateInvite.self, JoinGroup.self, OpenInvite.self, PreviewInvite.self, ListInvites.self, RevokeInvite.self,
    ]

    /// What an invite is known by. The rest of it stays on the server.
    public enum Invite {
        /// A UUID.
        public typealias ID = TextIdentifier<Invite>

        /// The invite that a link leads to: `deucediary://join/<id>` or `https://<host>/join/<id>`. Nil for any other.
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

    /// `POST /api/groups/{groupId}/invite`: a link for others to join by, as many as like, for 7 days. It ends earlier when
    /// it is revoked, and when its maker leaves the group.
    ///
    /// 403 "Not authorized" for those who are no members, and for a group that does not exist.
    public struct CreateInvite: Endpoint {
        public static let route = Route.post("/api/groups/{groupId}/invite", idempotencyKey: true)
        public typealias Output = CreatedInvite

        public var group: Group.ID

        public init(group: Group.ID) { self.group = group }

        enum CodingKeys: String, CodingKey { case group = "groupId" }
    }

    public struct CreatedInvite: Codable, Hashable, Sendable, Identifiable {
        /// To be shared.
        public var inviteLink: String
        public var id: Invite.ID

        public init(inviteLink: String, id: Invite.ID) {
            self.inviteLink = inviteLink
            self.id = id
        }
    }

    /// `POST /api/join/{inviteId}`: accepts an invite. 400 "Invalid or expired invite".
    public struct JoinGroup: Endpoint {
        public static let route = Route.post("/api/join/{inviteId}")
        public typealias Output = JoinedGroup

        public var invite: Invite.ID

        public init(invite: Invite.ID) { self.invite = invite }

        enum CodingKeys: String, CodingKey { case invite = "inviteId" }
    }

    public struct JoinedGroup: Codable, Hashable, Sendable {
        public var group: Group
        /// There is one only for those who were members before.
        public var message: String?

        public init(group: Group, message: String? = nil) {
            self.group = group
            self.message = message
        }
    }

    /// `GET /join/{inviteId}`: leads a browser to the app. Not for apps, which call ``JoinGroup``.
    ///
    /// 302 for any UUID, whether there is such an invite or not; 404 "Not found" for what is none.
    public struct OpenInvite: OpenEndpoint {
        public static let route = Route.get("/join/{inviteId}", .found)
        public typealias Output = Empty

        public var invite: Invite.ID

        public init(invite: Invite.ID) { self.invite = invite }

        enum CodingKeys: String, CodingKey { case invite = "inviteId" }
    }

    /// `GET /api/groups/preview/{inviteId}`: what an invite leads to, for whoever holds it. Needs no token. An addition to
    /// the contract (decisions §6).
    ///
    /// 404 "Invite not found or expired".
    public struct PreviewInvite: OpenEndpoint {
        public static let route = Route.get("/api/groups/preview/{inviteId}")
        public typealias Output = InvitePreview

        public var invite: Invite.ID

        public init(invite: Invite.ID) { self.invite = invite }

        enum CodingKeys: String, CodingKey { case invite = "inviteId" }
    }

    public struct InvitePreview: Codable, Hashable, Sendable {
        /// The group's.
        public var name: String
        public var memberCount: Int
        /// How many entries the group has.
        public var deuceCount: Int
        public var expiresAt: Timestamp

        public init(name: String, memberCount: Int, deuceCount: Int, expiresAt: Timestamp) {
            self.name = name
            self.memberCount = memberCount
            self.deuceCount = deuceCount
            self.expiresAt = expiresAt
        }
    }

    /// `GET /api/groups/{groupId}/invites`: the invites that lead into a group, the newest first: a member's own, an admin's
    /// all. An addition to the contract (decisions, second round, 16).
    ///
    /// 403 "Not authorized" for those who are no members, and for a group that does not exist.
    public struct ListInvites: Endpoint {
        public static let route = Route.get("/api/groups/{groupId}/invites")
        public typealias Output = [GroupInvite]
        public static let maximum = 500

        public var group: Group.ID
        /// 1 to 500, the most when absent.
        public var limit: Int?
        /// Only invites that follow this one in the list; 400 "Invalid cursor" for one that is not in it.
        public var before: Invite.ID?

        public init(group: Group.ID, limit: Int? = nil, before: Invite.ID? = nil) {
            self.group = group
            self.limit = limit
            self.before = before
        }

        public func validate() throws(Problem) { try DeuceDiary.validate(limit: limit) }

        enum CodingKeys: String, CodingKey {
            case group = "groupId"
            case limit, before
        }
    }

    /// An invite, as those see it who may revoke it.
    public struct GroupInvite: Codable, Hashable, Sendable, Identifiable {
        public var id: Invite.ID
        /// To be shared.
        public var inviteLink: String
        public var createdBy: User.ID
        public var expiresAt: Timestamp
        public var createdAt: Timestamp

        public init(
            id: Invite.ID, inviteLink: String, createdBy: User.ID, expiresAt: Timestamp, createdAt: Timestamp
        ) {
            self.id = id
            self.inviteLink = inviteLink
            self.createdBy = createdBy
            self.expiresAt = expiresAt
            self.createdAt = createdAt
        }
    }

    /// `DELETE /api/invites/{inviteId}`: ends an invite. Its maker may do so, and the admins of its group. An addition to
    /// the contract (decisions, second round, 16).
    ///
    /// 404 "Invite not found" for one that has ended too, 403 "Not authorized".
    public struct RevokeInvite: Endpoint {
        public static let route = Route.delete("/api/invites/{inviteId}")
        public typealias Output = Confirmation

        public var invite: Invite.ID

        public init(invite: Invite.ID) { self.invite = invite }

        enum CodingKeys: String, CodingKey { case invite = "inviteId" }
    }
}
