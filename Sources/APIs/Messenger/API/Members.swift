import Contract

/// Changes of a group's members: additions to the contract. The members of a direct chat cannot change: 400 "Not a
/// group chat".
extension Messenger {
    static let members = Section(
        "Members",
        [AddMembers.self, RemoveMember.self, LeaveChat.self], frames: [MemberAdded.self, MemberRemoved.self])

    /// `POST /chats/{id}/members`: adds members; only the owner may. Answers the chat as ``GetChat`` does.
    ///
    /// Throws 404 "Chat not found or access denied" when the caller is not a member, and 403 "Only the owner can do
    /// this". A chat has at most ``CreateChat/maximumMembers`` members.
    public struct AddMembers: Endpoint {
        public static let route = Route.post("/chats/{id}/members", idempotencyKey: true)
        public typealias Output = Chat

        /// The chat.
        public var chat: Chat.ID
        /// The users to add. Existing members and repeated ids are ignored.
        public var users: [User.ID]
        private init(derived: Never) { switch derived {} }

        public func validate() throws(Problem) { try CreateChat.validate(members: users) }
    }

    /// `DELETE /chats/{id}/members/{userId}`: removes another member; only the owner may.
    ///
    /// Throws 404 "Chat not found or access denied", 403 "Only the owner can do this", 404 "Member not found", and 400
    /// "Use leave" for the caller's own id.
    public struct RemoveMember: Endpoint {
        public static let route = Route.delete("/chats/{id}/members/{userId}", .noContent)
        public typealias Output = Empty

        /// The chat.
        public var chat: Chat.ID
        /// The member to remove.
        public var user: User.ID
        private init(derived: Never) { switch derived {} }
    }

    /// `POST /chats/{id}/leave`: leaves a chat. When the owner leaves, the role passes to the longest-standing member.
    /// When the last member leaves, the chat is deleted with its messages.
    ///
    /// Throws 404 "Chat not found or access denied".
    public struct LeaveChat: Endpoint {
        public static let route = Route.post("/chats/{id}/leave", .noContent)
        public typealias Output = Empty

        /// The chat.
        public var chat: Chat.ID
        private init(derived: Never) { switch derived {} }
    }

    /// `member_added`: reports that a user has joined a subscribed chat.
    public struct MemberAdded: ChatFrame {
        public static let type = "member_added"
        /// The chat.
        public var chat: Chat.ID
        /// The user.
        public var user: User.ID
        private init(derived: Never) { switch derived {} }
    }

    /// `member_removed`: reports that another user has left a subscribed chat or was removed from it.
    public struct MemberRemoved: ChatFrame {
        public static let type = "member_removed"
        /// The chat.
        public var chat: Chat.ID
        /// The user.
        public var user: User.ID
        private init(derived: Never) { switch derived {} }
    }
}
