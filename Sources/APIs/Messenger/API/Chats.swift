import Contract

extension Messenger {
    static let chats = Section(
        "Chats", [CreateChat.self, ListChats.self, GetChat.self],
        frames: [ChatAdded.self, ChatRemoved.self, ChatsChanged.self])

    /// The type of a chat: `direct` or `group`. A newer server may have more; treat those as groups.
    public struct ChatType: OpenEnumeration {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A chat of two users.
        public static let direct = ChatType(rawValue: "direct")
        /// A chat of any number of users, with a name and an owner.
        public static let group = ChatType(rawValue: "group")
        /// The type of a request that does not give one.
        public static let absent = direct
    }

    /// `POST /chats`: creates a chat. Two users have at most one direct chat: asking again answers 200 with the
    /// existing one.
    ///
    /// The creator is the owner. Throws 400 "Unknown member_ids: 7, 9" for users who do not exist, 400 "direct chat
    /// requires exactly one other member_id", and 403 "You cannot message this user".
    public struct CreateChat: Endpoint {
        public static let route = Route.post("/chats", .created, idempotencyKey: true)
        public typealias Output = CreatedChat
        /// The maximum number of members, including the creator.
        public static let maximumMembers = 500

        /// The type of the chat.
        public var type: ChatType
        /// The name of a group: 1 to 100 characters after trimming, without control characters and other invisible
        /// characters except joiners.
        public var name: String? = nil
        /// The other members. The caller's own id and repeated ids are ignored.
        public var members: [User.ID]
        private init(derived: Never) { switch derived {} }

        /// Makes a request for the direct chat of the caller and another user.
        public static func direct(with user: User.ID) -> CreateChat { .init(type: .direct, members: [user]) }
        /// Makes a request for a new group of the caller and others, who may be none yet.
        public static func group(_ name: String, members: [User.ID]) -> CreateChat {
            .init(type: .group, name: name, members: members)
        }

        public func validate() throws(Problem) {
            guard type == .direct || type == .group else {
                throw Problem(.badRequest, "type must be 'direct' or 'group'")
            }
            if type == .group {
                let name = name?.trimmed ?? ""
                guard !name.isEmpty else { throw Problem(.badRequest, "name required for group chats") }
                guard name.length <= 100 else { throw Problem(.badRequest, "name must be at most 100 characters") }
                guard self.name?.containsStrayFormatting != true else {
                    throw Problem(.badRequest, "name contains invalid characters")
                }
            }
            try Self.validate(members: members)
        }

        static func validate(members: [User.ID]) throws(Problem) {
            guard members.allSatisfy(\.isValid) else {
                throw Problem(.badRequest, "member_ids must be an array of user ids")
            }
        }

        private enum WireNames: String { case members = "member_ids" }
    }

    /// A chat that was created or already existed. ``GetChat`` returns the rest of it.
    public struct CreatedChat: Codable, Hashable, Sendable {
        /// The chat's id.
        public var id: Chat.ID
        /// The word `created`, or `existing` for a direct chat that already existed.
        public var type: String
        private init(derived: Never) { switch derived {} }
    }

    /// `GET /chats`: returns the caller's chats, ordered by their newest message, newest first.
    public struct ListChats: Endpoint {
        public static let route = Route.get("/chats")
        public typealias Output = [ChatSummary]
        /// The maximum number of chats in one answer.
        public static let maximum = 1000
        public static let fieldRules = ["limit": FieldRule.counting(upTo: maximum)]

        /// The number of chats to return: 1 to 1,000, the maximum when absent. An addition to the contract.
        public var limit: Int? = nil
        /// Returns only the chats that follow this one in the list at present. An addition to the contract.
        public var before: Chat.ID? = nil
        /// The word ``Inclusions/unread`` asks for ``ChatSummary/unreadCount``, ``Inclusions/peer`` for
        /// ``ChatSummary/peer``, ``Inclusions/newest`` for ``ChatSummary/newestMessage``, ``Inclusions/muted`` for
        /// ``ChatSummary/mute``.
        public var include: Inclusions? = nil
        private init(derived: Never) { switch derived {} }

        public func validate() throws(Problem) {
            if let limit, limit < 1 { throw Problem(.badRequest, "Invalid limit") }
            if let before, !before.isValid { throw Problem(.badRequest, "Invalid before") }
        }
    }

    /// A chat in the list of chats.
    public struct ChatSummary: Codable, WrittenByMembers, Hashable, Sendable, Identifiable {
        /// The chat's id.
        public var id: Chat.ID
        /// The type of the chat.
        public var type: ChatType
        /// The name of a group; nil for a direct chat, whose title is the other member's name.
        @OrNull public var name: String?
        /// The time at which the newest message was sent, or the chat created.
        public var updatedAt: Timestamp
        /// The text of the newest message: empty for a file without a caption, nil when there is no message.
        @OrNull public var lastMessage: String?
        /// The number of messages by others above the caller's read mark; nil unless ``ListChats/include`` asks for it.
        public var unreadCount: Int? = nil
        /// The value of the key `peer`; nil when an answer does not have the key.
        package var describedPeer: OrNull<ChatPeer>?
        /// The other user of a direct chat. Nil for a group, for a user whose account was deleted, and unless
        /// ``ListChats/include`` asks for it.
        public var peer: ChatPeer? { describedPeer?.wrappedValue }
        /// The value of the key `newest_message`; nil when an answer does not have the key.
        package var describedMessage: OrNull<Message>?
        /// The newest message. Nil when there is none, and unless ``ListChats/include`` asks for it.
        public var newestMessage: Message? { describedMessage?.wrappedValue }
        /// The value of the key `mute`; nil when an answer does not have the key.
        package var describedMute: OrNull<Mute>?
        /// The caller's muting of the chat. Nil for a chat that is not muted, and unless ``ListChats/include`` asks for it.
        public var mute: Mute? { describedMute?.wrappedValue }

        private init(derived: Never) { switch derived {} }

        private enum WireNames: String {
            case describedPeer = "peer"
            case describedMessage = "newest_message"
            case describedMute = "mute"
        }
    }

    /// The other user of a direct chat: its title and its picture. An addition to the contract.
    public struct ChatPeer: Codable, Hashable, Sendable, Identifiable {
        /// The user's id.
        public var id: User.ID
        /// The username.
        public var username: String
        /// The display name.
        public var displayName: String
        /// The picture, downloaded like any file; nil when there is none, and when the user has blocked the caller.
        @OrNull public var avatar: File.ID?
        private init(derived: Never) { switch derived {} }

        private enum WireNames: String { case avatar = "avatar_file_id" }
    }

    /// `GET /chats/{id}`: returns a chat. Throws 404 "Chat not found or access denied", for unknown chats and for those
    /// of others alike.
    public struct GetChat: Endpoint {
        public static let route = Route.get("/chats/{id}")
        public typealias Output = Chat

        /// The chat.
        public var id: Chat.ID
        private init(derived: Never) { switch derived {} }
    }

    /// A chat with its members.
    public struct Chat: Codable, Hashable, Sendable, Identifiable {
        public typealias ID = Identifier<Chat>

        /// The chat's id.
        public var id: ID
        /// The type of the chat.
        public var type: ChatType
        /// The name of a group; nil for a direct chat, whose title is the other member's name.
        @OrNull public var name: String?
        /// The user who created the chat, or to whom the role has passed.
        public var owner: User.ID
        /// The time at which the chat was created.
        public var createdAt: Timestamp
        /// The members in the order of joining.
        public var members: [Member]
        private init(derived: Never) { switch derived {} }

        private enum WireNames: String { case owner = "owner_id" }
    }

    /// `chat_added`: reports that the user is in another chat from now on, which a member created or added the user to. Sockets
    /// of the user receive it that asked for it (``Authenticate/chats``). An addition to the contract.
    public struct ChatAdded: ServerFrame {
        public static let type = "chat_added"
        /// The chat.
        public var chat: Chat.ID
        private init(derived: Never) { switch derived {} }
    }

    /// `chat_removed`: reports that the user is no longer in a chat. Sockets of the user receive it that asked for it
    /// (``Authenticate/chats``). An addition to the contract.
    public struct ChatRemoved: ServerFrame {
        public static let type = "chat_removed"
        /// The chat.
        public var chat: Chat.ID
        private init(derived: Never) { switch derived {} }
    }

    /// `chats_changed`: reports that a ``ChatAdded`` or ``ChatRemoved`` may have been lost between nodes of the server: read
    /// the list again with ``ListChats``. An addition to the contract.
    public struct ChatsChanged: ServerFrame {
        public static let type = "chats_changed"

        public init() {}
    }

    /// The role of a member: `owner` or `member`.
    public struct Role: OpenEnumeration {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The one member who may add and remove others.
        public static let owner = Role(rawValue: "owner")
        /// Any other member.
        public static let member = Role(rawValue: "member")
    }

    /// A member of a chat.
    public struct Member: Codable, Hashable, Sendable, Identifiable {
        /// The user's id.
        public var id: User.ID
        /// The username.
        public var username: String
        /// The display name.
        public var displayName: String
        /// The member's role in the chat.
        public var role: Role
        private init(derived: Never) { switch derived {} }
    }
}
