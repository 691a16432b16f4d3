import Contract
import Foundation

extension DeuceDiary {
    static let invites: [any Contract.Endpoint.Type] = [
        CreateInvite.self, JoinGroup.self, OpenInvite.self, PreviewInvite.self,
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

    /// `POST /api/groups/{groupId}/invite`: a link for others to join by, as many as like, for 7 days.
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
}
