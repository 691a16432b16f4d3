import Contract

/// Who is in a group: additions to the contract. A direct chat's two members stay: 400 "Not a group chat".
extension Messenger {
    static let members: [any Contract.Endpoint.Type] = [AddMembers.self, RemoveMember.self, LeaveChat.self]

    /// `POST /chats/{id}/members`: the owner brings people in. Answers the chat as ``GetChat`` does.
    ///
    /// 404 "Chat not found or access denied" for those who are not in it, 403 "Only the owner can do this". At most
    /// ``CreateChat/maximumMembers`` in all.
    public struct AddMembers: Endpoint {
        public static let route = Route.post("/chats/{id}/members", idempotencyKey: true)
        public typealias Output = Chat

        public var chat: Chat.ID
        /// Those who are in already, and repeated ones, are skipped.
        public var users: [User.ID]

        public init(chat: Chat.ID, users: [User.ID]) {
            self.chat = chat
            self.users = users
        }

        public func validate() throws(Problem) { try CreateChat.validate(members: users) }

        enum CodingKeys: String, CodingKey {
            case chat = "id"
            case users = "user_ids"
        }
    }

    /// `DELETE /chats/{id}/members/{userId}`: the owner sends somebody else out.
    ///
    /// 404 "Chat not found or access denied", 403 "Only the owner can do this", 404 "Member not found",
    /// 400 "Use leave" for oneself.
    public struct RemoveMember: Endpoint {
        public static let route = Route.delete("/chats/{id}/members/{userId}", .noContent)
        public typealias Output = Empty

        public var chat: Chat.ID
        public var user: User.ID

        public init(chat: Chat.ID, user: User.ID) {
            self.chat = chat
            self.user = user
        }

        enum CodingKeys: String, CodingKey {
            case chat = "id"
            case user = "userId"
        }
    }

    /// `POST /chats/{id}/leave`. An owner who leaves passes the role to the longest-standing member; when the last one
    /// leaves, the chat is gone with its messages.
    ///
    /// 404 "Chat not found or access denied".
    public struct LeaveChat: Endpoint {
        public static let route = Route.post("/chats/{id}/leave", .noContent)
        public typealias Output = Empty

        public var chat: Chat.ID

        public init(chat: Chat.ID) { self.chat = chat }

        enum CodingKeys: String, CodingKey { case chat = "id" }
    }
}
