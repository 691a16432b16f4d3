import Contract

extension Messenger {
    static let chats: [any Contract.Endpoint.Type] = [CreateChat.self, ListChats.self, GetChat.self]

    /// `direct` or `group`. A newer server may know more: treat those as groups.
    public struct ChatType: OpenEnumeration {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let direct = ChatType(rawValue: "direct")
        public static let group = ChatType(rawValue: "group")
        /// What a request without a type means.
        public static let absent = direct
    }

    /// `POST /chats`. A direct chat of two people exists once: asking again answers 200 with the one there is.
    ///
    /// The creator is the owner. 400 "Unknown member_ids: 7, 9" for people who do not exist, 400 "direct chat requires
    /// exactly one other member_id", 403 "You cannot message this user".
    public struct CreateChat: Endpoint {
        public static let route = Route.post("/chats", .created, idempotencyKey: true)
        public typealias Output = CreatedChat
        /// The creator included.
        public static let maximumMembers = 500

        public var type: ChatType
        /// Of a group: 1 to 100 characters after trimming.
        public var name: String?
        /// The others. One's own id and repeated ones are dropped.
        public var members: [User.ID]

        public init(type: ChatType, name: String? = nil, members: [User.ID]) {
            self.type = type
            self.name = name
            self.members = members
        }

        /// The chat of the caller and one other.
        public static func direct(with user: User.ID) -> CreateChat { .init(type: .direct, members: [user]) }
        /// A new group of the caller and others; there may be none yet.
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
            }
            try Self.validate(members: members)
        }

        static func validate(members: [User.ID]) throws(Problem) {
            guard members.allSatisfy(\.isValid) else {
                throw Problem(.badRequest, "member_ids must be an array of user ids")
            }
        }

        enum CodingKeys: String, CodingKey {
            case type, name
            case members = "member_ids"
        }
    }

    /// A chat that was made, or was there. ``GetChat`` has the rest.
    public struct CreatedChat: Codable, Hashable, Sendable {
        public var id: Chat.ID
        /// `created`, or `existing` for a direct chat that was there.
        public var type: String

        public init(id: Chat.ID, type: String) {
            self.id = id
            self.type = type
        }
    }

    /// `GET /chats`: the caller's chats, the one with the newest message first.
    public struct ListChats: Endpoint {
        public static let route = Route.get("/chats")
        public typealias Output = [ChatSummary]
        /// The most of one answer.
        public static let maximum = 1000

        /// 1 to 1,000, the most when absent. An addition to the contract.
        public var limit: Int?
        /// Only the chats that follow this one in the list now. An addition to the contract.
        public var before: Chat.ID?
        /// ``Inclusions/unread``, for ``ChatSummary/unreadCount``.
        public var include: Inclusions?

        public init(limit: Int? = nil, before: Chat.ID? = nil, include: Inclusions? = nil) {
            self.limit = limit
            self.before = before
            self.include = include
        }

        public func validate() throws(Problem) {
            if let limit, limit < 1 { throw Problem(.badRequest, "Invalid limit") }
            if let before, !before.isValid { throw Problem(.badRequest, "Invalid before") }
        }
    }

    /// A chat in the list.
    public struct ChatSummary: Codable, Hashable, Sendable, Identifiable {
        public var id: Chat.ID
        public var type: ChatType
        /// Nil for a direct chat: its title is the other member's name.
        @OrNull public var name: String?
        /// When the newest message was sent, or the chat made.
        public var updatedAt: Timestamp
        /// The newest message's text, empty for a bare file, nil when there is none.
        @OrNull public var lastMessage: String?
        /// How many messages others sent above one's own read mark; nil unless asked for with ``ListChats/include``.
        public var unreadCount: Int?

        public init(
            id: Chat.ID, type: ChatType, name: String?, updatedAt: Timestamp, lastMessage: String?,
            unreadCount: Int? = nil
        ) {
            self.id = id
            self.type = type
            self.name = name
            self.updatedAt = updatedAt
            self.lastMessage = lastMessage
            self.unreadCount = unreadCount
        }

        enum CodingKeys: String, CodingKey {
            case id, type, name
            case updatedAt = "updated_at"
            case lastMessage = "last_message"
            case unreadCount = "unread_count"
        }
    }

    /// `GET /chats/{id}`. 404 "Chat not found or access denied", for unknown and foreign chats alike.
    public struct GetChat: Endpoint {
        public static let route = Route.get("/chats/{id}")
        public typealias Output = Chat

        public var id: Chat.ID

        public init(id: Chat.ID) { self.id = id }
    }

    /// A chat with its members.
    public struct Chat: Codable, Hashable, Sendable, Identifiable {
        public typealias ID = Identifier<Chat>

        public var id: ID
        public var type: ChatType
        /// Nil for a direct chat: its title is the other member's name.
        @OrNull public var name: String?
        /// Who made it, or whom the role passed to.
        public var owner: User.ID
        public var createdAt: Timestamp
        /// In order of joining.
        public var members: [Member]

        public init(
            id: ID, type: ChatType, name: String?, owner: User.ID, createdAt: Timestamp, members: [Member]
        ) {
            self.id = id
            self.type = type
            self.name = name
            self.owner = owner
            self.createdAt = createdAt
            self.members = members
        }

        enum CodingKeys: String, CodingKey {
            case id, type, name
            case owner = "owner_id"
            case createdAt = "created_at"
            case members
        }
    }

    /// `owner` or `member`.
    public struct Role: OpenEnumeration {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let owner = Role(rawValue: "owner")
        public static let member = Role(rawValue: "member")
    }

    /// Somebody in a chat.
    public struct Member: Codable, Hashable, Sendable, Identifiable {
        public var id: User.ID
        public var username: String
        public var displayName: String
        public var role: Role

        public init(id: User.ID, username: String, displayName: String, role: Role) {
            self.id = id
            self.username = username
            self.displayName = displayName
            self.role = role
        }

        enum CodingKeys: String, CodingKey {
            case id, username
            case displayName = "display_name"
            case role
        }
    }
}
